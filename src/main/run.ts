// `skep run`: runs on the schedule until it is told to stop.

import { Command } from 'commander';
import type { RunResult } from '../reconcile/result.ts';
import { Failure } from '../std/failure.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type InstanceFlags, loadConfig, withInstanceFlags } from './configuration.ts';
import type { Instance } from './instance.ts';
import { type Scheduled, startSchedule } from './schedule.ts';
import { untilSignal } from './signals.ts';

const FOLLOW_UPS_MS = [500, 1000, 2000, 4000, 8000];

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster what Git says, on a schedule.')
    .addHelpText('after', '\nExample:\n  skep run -c /etc/skep/skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const { openInstance } = await import('./instance.ts');
      const { textOfChanges } = await import('../report/text.ts');
      const instance = await openInstance(config, () => undefined);
      const scheduled = await startRuns(instance, config, {
        result: (result) => process.stdout.write(textOfChanges(result)),
        failure: (failure) => process.stderr.write(`error ${failure.code}: ${failure.message}\n`),
      });
      await untilSignal();
      await scheduled.stop();
      await instance.close();
    });
}

export interface RunListener {
  result(result: RunResult): void;
  failure(failure: Failure): void;
}

/** Runs one after the other; a run that fails as a whole is told and tried again at the next tick. */
export async function startRuns(instance: Instance, config: Config, listener: RunListener): Promise<Scheduled> {
  const { reconcile } = await import('../reconcile/reconcile.ts');
  const { schedule, timeZone, jitterSeconds } = config;
  const deps = { sleep: systemClock.sleep, random: Math.random };
  return startSchedule(deps, { schedule, timeZone, jitterSeconds, followUpsMs: FOLLOW_UPS_MS }, async () => {
    try {
      // Readiness is looked at again by the next run, so a new commit never waits for an old one's rollout.
      const result = await reconcile(instance.deps, instance.options({ waitSeconds: 0 }));
      await instance.save();
      listener.result(result);
      return result.readiness.progressing.length > 0;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      listener.failure(error);
      return false;
    }
  });
}
