// Writes the list of running servers into the databases of the registries. Readers of the catalogue see the list.

import type { ListedServer, RunningServer } from '#contracts/running-servers.ts';
import { storeFleet } from '#registry/catalogue/fleet.ts';
import type { Runner } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Clock } from '../ports.ts';
import type { RegistryDeps, RegistryResults, RegistryStore } from './registries.ts';

/** Time limit of all writes together, in milliseconds. The next run writes to databases that were too slow. */
const DEADLINE_MS = 3_000;

interface RecordDeps {
  readonly registries?: RegistryDeps | undefined;
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
}

/**
 * Writes all servers into the database of the instance, and the servers of a namespace into the databases of its
 * registries. Also writes servers that request an entry into registries of running servers. Returns failures that are
 * not in `failures`. These failures do not change the result of the run.
 */
export async function recordRunning(
  { registries: ports, clock }: RecordDeps,
  runner: Runner,
  { ownStores, fleets, failures }: Pick<RegistryResults, 'ownStores' | 'fleets' | 'failures'>,
  listed: readonly ListedServer[] | undefined,
): Promise<readonly Failure[]> {
  if (ports === undefined || listed === undefined) return [];
  const servers = listed.map(({ listing: _listing, ...server }): RunningServer => server);
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
    ...fleets.map((fleet) => attempt(() => storeFleet(fleet, listed, () => clock.now()))),
  ];
  if (!(await endWithin(clock, writes))) {
    const message = `a database did not store the running servers within ${DEADLINE_MS} ms: the next run tries again`;
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

/** Removes duplicates: registries of one namespace may share a store. */
function distinctPlaces(stores: readonly RegistryStore[]): readonly RegistryStore[] {
  return stores.filter(
    ({ writer, namespace }, index) =>
      stores.findIndex((each) => each.writer === writer && each.namespace === namespace) === index,
  );
}
