// `skep sync`: one run, then exit.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function syncCommand(): Command {
  return withInstanceFlags(new Command('sync'))
    .description('Make the cluster what Git says, once, and wait until it is ready.')
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  skep sync -c skep.yaml -o json')
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { runAndTell }] = await Promise.all([import('./instance.ts'), import('./one-run.ts')]);
      await runAndTell(
        flags.output,
        (progress) => openInstance(config, progress),
        (instance) => instance.run(),
      );
    });
}
