// Publishes the state of an instance after each run, to a file and to the listener, if skep.yaml configures this.

import { idOf } from '#kubernetes/rules/object.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { formatSnapshot, stateSnapshotOf } from '#reconciler/run/plan-file/state-snapshot.ts';
import type { StateSnapshot } from '#reconciler/run/plan-file/state-snapshot-format.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import { listDefinitions } from '#reconciler/run/read/foreign-kinds.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { planInstance, type RunDeps, type RunOptions } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { digest } from '#std/hash.ts';
import type { Config } from '../../config/config.ts';
import { plannedSources, readBinding, readSecretKey, writeWhole } from './plan-files.ts';

export interface SnapshotPublisher {
  /** Receives the state that a run has read. */
  looked(prepared: Prepared): void;
  /** Publishes the state, and returns the Failures. These Failures do not change the result of the run. */
  publish(deps: RunDeps, options: RunOptions, result: RunResult): Promise<readonly Failure[]>;
  /** Returns true if a new snapshot is due, even if nothing has changed. */
  isDue(clock: Pick<RunDeps['clock'], 'monotonic'>): boolean;
  /** Returns the text of the last snapshot; undefined if none exists yet. */
  latest(): string | undefined;
}

/** Age after which an unchanged snapshot is written again, so that readers see that it is current. */
const RENEW_MS = 5 * 60_000;

export function openPublisher(config: Config): SnapshotPublisher {
  let seen: Prepared | undefined;
  let last: { readonly content: string; readonly at: number; readonly text: string } | undefined;

  const isDue: SnapshotPublisher['isDue'] = (clock) => last === undefined || clock.monotonic() - last.at >= RENEW_MS;

  async function publish(deps: RunDeps, options: RunOptions, result: RunResult): Promise<void> {
    const now = await stateNow(deps, options, result, seen);
    // Publishes nothing if a part could not be read, because the part would look deleted.
    if (now === undefined) return;
    const snapshot = await takeSnapshot(config, deps, options, now);
    const content = digestContent(snapshot);
    const at = deps.clock.monotonic();
    if (last?.content === content && !isDue(deps.clock)) return;
    const text = formatSnapshot(snapshot);
    const file = config.snapshot?.file;
    if (file !== undefined) await writeWhole(file, text);
    last = { content, at, text };
  }

  return {
    looked(prepared) {
      seen = prepared;
    },
    async publish(deps, options, result) {
      try {
        await publish(deps, options, result);
        return [];
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return [error];
      } finally {
        seen = undefined;
      }
    },
    isDue,
    latest: () => last?.text,
  };
}

/**
 * Returns the state after the run; undefined if it could not be read completely. If the run wrote nothing, returns the
 * state that the run has read. Otherwise reads the state again.
 */
async function stateNow(
  deps: RunDeps,
  { admit: _admit, ...options }: RunOptions,
  result: RunResult,
  seen: Prepared | undefined,
): Promise<Prepared | undefined> {
  if (result.failures.length > 0) return undefined;
  if (seen !== undefined && result.outcomes.length === 0) return seen;
  const again = await planInstance(deps, options);
  return again.result.failures.length > 0 ? undefined : again.prepared;
}

async function takeSnapshot(
  config: Config,
  deps: RunDeps,
  { homeNamespace }: Pick<RunOptions, 'homeNamespace'>,
  prepared: Prepared,
): Promise<StateSnapshot> {
  const { cluster, clock, digestKey } = deps;
  const foreign = prepared.gathered.loaded.filter(
    ({ id, kind }) => kind === undefined && bundledSchema(id.apiVersion) === undefined,
  );
  return stateSnapshotOf({
    binding: await readBinding(config, cluster, homeNamespace),
    sources: plannedSources(config, prepared.gathered.commits),
    createdAt: new Date(clock.now()).toISOString(),
    prepared,
    served: await cluster.resources(),
    definitions: await listDefinitions(
      cluster,
      foreign.map(({ object }) => idOf(object)),
    ),
    key: await readSecretKey(digestKey),
  });
}

function digestContent({ createdAt: _at, digest: _digest, ...content }: StateSnapshot): string {
  return digest(content);
}
