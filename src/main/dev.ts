// `skep dev`: everything on one machine: embedded cluster and database, a sample repository, reconciler and registry.

import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import type { RunResult } from '../reconcile/result.ts';
import { textOfChanges } from '../report/text.ts';
import { Failure } from '../std/failure.ts';
import { systemClock } from './clock.ts';
import { serveRegistries } from './dev-registries.ts';
import { type DevWorld, openDevWorld } from './dev-world.ts';
import { openInstance } from './instance.ts';
import { startRuns } from './run.ts';
import { untilSignal } from './signals.ts';

interface Options {
  readonly port: number;
  readonly data: string;
  readonly once?: boolean;
}

/** A first run on an idle machine takes a few seconds; a busy one gets its time. */
const FIRST_RUN_WAIT_SECONDS = 120;

export function devCommand(): Command {
  return new Command('dev')
    .description('Run everything on this machine: cluster, database, sample repository, reconciler, registry.')
    .option('--port <number>', 'port of the registry service', Number, 8080)
    .option('--data <dir>', 'where the state is kept', '.skep/dev')
    .option('--once', 'one run, print, exit')
    .addHelpText('after', '\nExample:\n  skep dev --port 8080')
    .action(async ({ port, data, once }: Options) => {
      const started = systemClock.monotonic();
      const say = (text: string): void => {
        process.stdout.write(`[${((systemClock.monotonic() - started) / 1000).toFixed(1).padStart(5)} s] ${text}\n`);
      };
      await dev({ port, dir: resolve(data), once: once === true, say });
    });
}

interface DevOptions {
  readonly port: number;
  readonly dir: string;
  readonly once: boolean;
  readonly say: (text: string) => void;
}

async function dev({ port, dir, once, say }: DevOptions): Promise<void> {
  await mkdir(dir, { recursive: true });
  const interrupted = untilSignal();
  const world = await openDevWorld(dir, say);
  try {
    const instance = await openInstance(world.config, () => undefined);
    try {
      const { reconcile } = await import('../reconcile/reconcile.ts');
      const first = await reconcile(instance.deps, instance.options({ waitSeconds: FIRST_RUN_WAIT_SECONDS }));
      say(`fleet synced from ${relative(process.cwd(), world.fleetDir)}`);
      process.stdout.write(textOfChanges(first));
      const registries = await serveRegistries(instance, world, port);
      for (const { name, url } of registries.services) say(`registry ${name} at ${url}`);
      try {
        if (once) return finishOnce(first);
        process.stdout.write(guide(world, registries.examples));
        const runs = await startRuns(instance, world.config, { result: tell(say), failure: complain(say) });
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

function tell(say: (text: string) => void): (result: RunResult) => void {
  return (result) => {
    const text = textOfChanges(result).trimEnd();
    if (text !== '')
      say(
        `run at ${Object.values(result.commits)
          .map((commit) => commit.slice(0, 10))
          .join(', ')}\n${text}`,
      );
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
