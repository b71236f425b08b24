// `skep status`: how an instance is, whether or not anything runs it.

import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { LastLook } from '../report/status.ts';
import { isObject } from '../std/json.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';
import { pausedNow } from './paused-now.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function statusCommand(): Command {
  return withInstanceFlags(new Command('status'))
    .description('Show what differs from Git, what is held, waiting or in trouble, since when and why.')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nReads Git and the cluster itself, and writes nothing: no reconciler needs to be running.\n' +
        '\nExamples:\n  skep status -c skep.yaml\n  skep status -o json',
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { lastRunFile }, { statusOf }, { jsonOfStatus, textOfStatus }] = await Promise.all([
        import('./instance.ts'),
        import('./recorder.ts'),
        import('../reconcile/status.ts'),
        import('../report/status.ts'),
      ]);
      const instance = await openInstance(config, () => undefined);
      try {
        const [history, { paused }] = await Promise.all([
          instance.history.latest(config.history.limit),
          pausedNow(config, {}),
        ]);
        const status = await statusOf({ ...instance.deps, history }, instance.options(), paused);
        const lastLook = await readLastLook(lastRunFile(config));
        process.stdout.write((flags.output === 'json' ? jsonOfStatus : textOfStatus)(status, lastLook));
        process.exitCode = status.failures.length > 0 ? 1 : 0;
      } finally {
        await instance.close();
      }
    });
}

/** Another machine runs it, or none has yet: then there is no such file. */
async function readLastLook(path: string): Promise<LastLook | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(value) || typeof value.id !== 'string' || typeof value.finishedAt !== 'string') return undefined;
    return { id: value.id, finishedAt: value.finishedAt };
  } catch {
    return undefined;
  }
}
