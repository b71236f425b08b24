// An instance over a fleet of its own, in a process of its own, so that its memory is its own. Makes a run for each message,
// and answers with what it did.

import { reconcile } from '#reconciler/run/run.ts';
import { openFleetWorld, optionsOf } from './fleet-world.ts';

export interface LargeFleet {
  readonly kubeconfig: string;
  /** With the repository in it. */
  readonly folder: string;
  /** Also the name of its namespace. */
  readonly instance: string;
  readonly children: boolean;
}

export interface LargeRun {
  readonly ms: number;
  readonly requests: number;
  readonly writes: number;
  readonly created: number;
  readonly unchanged: number;
  /** What went wrong, in words. */
  readonly wrong: readonly string[];
}

async function serve({ kubeconfig, folder, instance, children }: LargeFleet): Promise<void> {
  const world = await openFleetWorld(kubeconfig, folder, instance);
  process.on('message', async () => {
    const before = world.writes();
    const start = performance.now();
    const run = await reconcile(world.deps, optionsOf({ instance, children, waitSeconds: 0 }));
    const failed = run.outcomes.flatMap(({ error }) => error?.message ?? []);
    const answer: LargeRun = {
      ms: performance.now() - start,
      requests: run.requests,
      writes: world.writes() - before,
      created: run.outcomes.filter(({ action }) => action === 'created').length,
      unchanged: run.plan.unchanged.length,
      wrong: [...failed, ...[...run.failures, ...run.problems].map(({ message }) => message)],
    };
    process.send?.(answer);
  });
  process.once('disconnect', () => {
    void world.close();
  });
  process.send?.('open');
}

process.once('message', (fleet: LargeFleet) => {
  void serve(fleet);
});
