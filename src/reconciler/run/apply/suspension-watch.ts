// Watches during the writes of a run whether a person suspends the instance. After a suspension, the run begins no
// further change.

import { Failure } from '#std/failure.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import { readSuspension, type Suspension } from '../records/suspension.ts';

/** Code of the Failure of a change that was not begun because the instance is suspended. */
export const SUSPENDED = 'suspended';

const POLL_MS = 500;

export interface SuspensionWatch {
  /** Throws Failure `suspended` after a suspension was observed. */
  assertGoing(): void;
  suspension(): Suspension | undefined;
  end(): Promise<void>;
}

/** Reads the suspension at once and then twice a second, so that writes stop about a second after a suspension. */
export async function watchSuspension(
  deps: { readonly cluster: Pick<Cluster, 'get'>; readonly clock: Pick<Clock, 'sleep'> },
  home: InstanceName,
): Promise<SuspensionWatch> {
  const stop = new AbortController();
  const asked: Pick<Cluster, 'get'> = { get: (id) => deps.cluster.get(id, 'urgent') };
  let found = await readSuspension(asked, home);
  const watching = watch();

  async function watch(): Promise<void> {
    while (found === undefined) {
      await deps.clock.sleep(POLL_MS, stop.signal);
      if (stop.signal.aborted) return;
      found = await readSuspension(asked, home).catch(unlessFailure);
    }
  }

  return {
    assertGoing() {
      if (found !== undefined) throw suspendedFailure(found);
    },
    suspension: () => found,
    async end() {
      stop.abort();
      await watching;
    },
  };
}

export function suspendedFailure({ who, since, reason }: Suspension): Failure {
  const why = reason === '' ? '' : `: ${reason}`;
  return new Failure(SUSPENDED, `${who} has suspended the instance (${since})${why}; skep resume ends that`);
}

/** Ignores failures. If the server does not respond, the deadline of the lease ends the run. */
function unlessFailure(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}
