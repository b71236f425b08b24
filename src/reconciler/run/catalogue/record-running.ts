// Leaves what runs in the stores of the registries, for those who read the catalogue.

import type { RunningServer } from '#contracts/running-servers.ts';
import type { Runner } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Clock } from '../ports.ts';
import type { RegistryDeps, RegistryResults, RegistryStore } from './registries.ts';

/** Stores that take longer get it with a later run. */
const DEADLINE_MS = 3_000;

interface RecordDeps {
  readonly registries?: RegistryDeps | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * One statement for the store of the instance, which gets everything, and one for each registry with a store of its own, which gets
 * what runs in its namespace; all at once, within one deadline. Gives what failed, and is not known yet: the run is none the worse
 * for it.
 */
export async function recordRunning(
  { registries: ports, clock }: RecordDeps,
  runner: Runner,
  { ownStores, failures }: Pick<RegistryResults, 'ownStores' | 'failures'>,
  servers: readonly RunningServer[] | undefined,
): Promise<readonly Failure[]> {
  if (ports === undefined || servers === undefined) return [];
  const found: Failure[] = [];
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      found.push(failure);
    }
  }
  const writes = [
    attempt(async () => (await ports.commonStore?.())?.recordRunning(runner, servers)),
    ...distinctPlaces(ownStores).map(({ writer, namespace }) => {
      const own = servers.filter((server) => server.namespace === namespace);
      return attempt(() => writer.recordRunning(runner, own, namespace));
    }),
  ];
  if (!(await endWithin(clock, writes))) {
    const message = `a database has not taken within ${DEADLINE_MS} ms which servers run: the next run tries again`;
    found.push(new Failure('database-busy', message, { retryable: true }));
  }
  return distinctNews(found, failures);
}

async function endWithin(clock: RecordDeps['clock'], writes: readonly Promise<void>[]): Promise<boolean> {
  const ended = new AbortController();
  try {
    const late = clock.sleep(DEADLINE_MS, ended.signal).then(() => false);
    return await Promise.race([Promise.all(writes).then(() => true), late]);
  } finally {
    ended.abort();
  }
}

function distinctNews(found: readonly Failure[], known: readonly Failure[]): readonly Failure[] {
  const messages = new Set(known.map(({ message }) => message));
  return found.filter(({ message }) => !messages.has(message) && messages.add(message));
}

/** Registries of one namespace may share a store. */
function distinctPlaces(stores: readonly RegistryStore[]): readonly RegistryStore[] {
  return stores.filter(
    ({ writer, namespace }, index) =>
      stores.findIndex((each) => each.writer === writer && each.namespace === namespace) === index,
  );
}
