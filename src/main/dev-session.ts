// One session of `skep dev`, from the start of its servers to Ctrl-C.

import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Outcome } from '../reconcile/apply.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import type { RunResult } from '../reconcile/result.ts';
import { textOfChanges, textOfEnding, textOfOutcome } from '../report/text.ts';
import { Failure } from '../std/failure.ts';
import { serveRegistries } from './dev-registries.ts';
import { type DevWorld, openDevWorld } from './dev-world.ts';
import { openInstance } from './instance.ts';
import { startRuns } from './runs.ts';
import { untilSignal } from './signals.ts';

/** A first run on an idle machine takes a few seconds; a busy one gets its time. */
const FIRST_RUN_WAIT_SECONDS = 120;

export interface DevOptions {
  readonly port: number;
  readonly dir: string;
  readonly once: boolean;
  readonly say: (text: string) => void;
}

export async function dev({ port, dir, once, say }: DevOptions): Promise<void> {
  await mkdir(dir, { recursive: true });
  const interrupted = untilSignal();
  const world = await openDevWorld(dir, say);
  try {
    const instance = await openInstance(world.config, telling(say));
    try {
      const first = await reconcile(instance.deps, instance.options({ waitSeconds: FIRST_RUN_WAIT_SECONDS }));
      say(`fleet synced from ${relative(process.cwd(), world.fleetDir)}`);
      process.stdout.write(textOfEnding(first));
      const registries = await serveRegistries(instance, world, port);
      for (const { name, url } of registries.services) say(`registry ${name} at ${url}`);
      try {
        if (once) return finishOnce(first);
        process.stdout.write(guide(world, registries.examples));
        const runs = startRuns(instance, world.config, { result: tell(say), failure: complain(say) });
        await interrupted;
        say('stopping');
        await runs.stop();
      } finally {
        await registries.stop();
      }
    } finally {
      await instance.close();
    }
  } finally {
    await world.close();
  }
}

function finishOnce(first: RunResult): void {
  const failed =
    first.failures.length > 0 || first.problems.some(({ severity }) => severity === 'error') || first.timedOut;
  if (failed) throw new Failure('dev-first-run-failed', 'the first run did not end well; its lines above say why');
}

function telling(say: (text: string) => void): (outcome: Outcome) => void {
  return (outcome) => say(textOfOutcome(outcome));
}

function tell(say: (text: string) => void): (result: RunResult) => void {
  return (result) => {
    const text = textOfChanges(result).trimEnd();
    if (text !== '') say(text);
  };
}

function complain(say: (text: string) => void): (failure: Failure) => void {
  return (failure) => say(`error ${failure.code}: ${failure.message}`);
}

/** What to try next: three commands that work as they stand. */
function guide(world: DevWorld, examples: readonly string[]): string {
  const fleet = relative(process.cwd(), world.fleetDir) || '.';
  const kubeconfig = relative(process.cwd(), world.kubeconfig);
  return [
    '',
    `cluster     ${world.clusterUrl}   kubeconfig ${kubeconfig}`,
    `repository  ${world.config.sources.map(({ repository }) => repository).join(', ')}`,
    `state       ${relative(process.cwd(), join(world.fleetDir, '..'))} (delete it to start anew)`,
    '',
    'Try in another terminal:',
    `  kubectl --kubeconfig ${kubeconfig} get mcpservers,deployments,statefulsets -A`,
    ...examples.slice(0, 1).map((example) => `  ${example}`),
    `  git -C ${fleet} rm -q cluster/docs/carrier-mail.yaml && git -C ${fleet} commit -m 'Retire carrier-mail'`,
    '',
    'Ctrl-C stops everything; the state stays.',
    '',
  ].join('\n');
}
