// Publishes the state of an instance after each run, if skep.yaml configures it: to a file, and to the listener.

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
  /** Receives the state that a run has read, before the result is published. */
  looked(prepared: Prepared): void;
  /** Resolves with the failures that kept the state from being published. The result of the run stays the same. */
  publish(deps: RunDeps, options: RunOptions, result: RunResult): Promise<readonly Failure[]>;
  /** Returns whether the snapshot needs a run, even if nothing has changed. */
  isDue(clock: Pick<RunDeps['clock'], 'monotonic'>): boolean;
  /** Returns the text of the last snapshot; undefined before the first. */
  latest(): string | undefined;
}

/** An unchanged state is written again after this time, so that readers see that it is still current. */
const RENEW_MS = 5 * 60_000;

export function openPublisher(config: Config): SnapshotPublisher {
  let seen: Prepared | undefined;
  let last: { readonly content: string; readonly at: number; readonly text: string } | undefined;

  const isDue: SnapshotPublisher['isDue'] = (clock) => last === undefined || clock.monotonic() - last.at >= RENEW_MS;

  async function publish(deps: RunDeps, options: RunOptions, result: RunResult): Promise<void> {
    const now = await stateNow(deps, options, result, seen);
    // A part that could not be read would look deleted.
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

/** Returns the state after the run. If the run wrote nothing, that is the state that it read; otherwise reads again. */
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
