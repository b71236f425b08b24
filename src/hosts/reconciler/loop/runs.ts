// Makes the runs of `skep run` and `skep dev` on their schedule, one after the other.

import { randomUUID } from 'node:crypto';
import { keyOf } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { Instance } from '../instance/instance.ts';
import { type Reason, type Scheduled, startSchedule } from './schedule.ts';
import { openWindows, pausedBy } from './windows.ts';

/** Time between proofs: a proof lists objects again that watches keep current, and computes stored results again. */
const PROOF_EVERY_MS = 10 * 60_000;
const FOLLOW_UPS_MS = [500, 1000, 2000, 4000, 8000];

export interface RunListener {
  began?(reason: Reason, runId: string): void;
  /** Receives the result of a run. `before`: result of the previous run; undefined for the first run. */
  result(result: RunResult, before: RunResult | undefined): void;
  failure(failure: Failure): void;
  /** Called if a proof differs from a stored result. `stage`: stage of the run. `key`: key of the object. */
  differs?(stage: string, key: string): void;
  /** Called repeatedly while the loop waits for the next run. */
  beat?(): void;
  /** Called with true when a run is requested, and with false when it begins. */
  queued?(waiting: boolean): void;
}

/** Returns whether the run created or changed objects. Sources that depend on other sources may then continue soon. */
function hasMadeChanges({ outcomes }: RunResult): boolean {
  return outcomes.some(({ action }) => action === 'created' || action === 'configured');
}

/**
 * Starts the loop. If a run fails as a whole, the Failure is reported, and the next scheduled run tries again. `first`:
 * result of a run that was already made. Throws Failure `config-invalid` if a cron expression is invalid.
 */
export function startRuns(instance: Instance, config: Config, listener: RunListener, first?: RunResult): Scheduled {
  let before = first;
  const { schedule, timeZone, jitterSeconds } = config;
  const { now, sleep, monotonic } = systemClock;
  let provedAt = monotonic();
  /** True after a proof has begun, until a run with the proof has succeeded. */
  let isProofOpen = false;
  const { beat, queued } = listener;
  const deps = {
    now,
    sleep,
    random: Math.random,
    beat,
    queued,
  };
  const windows = openWindows(config.windows);
  return startSchedule(deps, { schedule, timeZone, jitterSeconds, followUpsMs: FOLLOW_UPS_MS }, async (reason) => {
    const id = randomUUID();
    listener.began?.(reason, id);
    const paused = pausedBy(windows, now());
    const isAsked = reason === 'request' || reason === 'webhook';
    const isProof = monotonic() - provedAt >= PROOF_EVERY_MS;
    try {
      const known = isAsked || paused.paused !== undefined ? undefined : await instance.repeat(id);
      if (isProof) {
        // A second `listAgain` without a run in between would drop the lists as unused.
        if (!isProofOpen) instance.deps.cluster.listAgain();
        isProofOpen = true;
        instance.prove((stage, key) => listener.differs?.(stage, key));
      }
      // Runs do not wait for readiness, because the next run checks it again. A new commit then need not wait for an
      // old rollout.
      const result = known !== undefined && !isProof ? known : await instance.run({ id, waitSeconds: 0, ...paused });
      if (isProof) [provedAt, isProofOpen] = [monotonic(), false];
      if (isProof && known !== undefined)
        for (const { resource } of result.outcomes) listener.differs?.('run', keyOf(resource));
      // Reports the result before saving, because its changes are news even if saving fails.
      listener.result(result, before);
      before = result;
      await instance.save();
      return result.readiness.progressing.length > 0 || (result.waits.length > 0 && hasMadeChanges(result));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      listener.failure(error);
      return false;
    }
  });
}
