// `skep run`: runs on the schedule until it is told to stop.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from './configuration.ts';

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster what Git says, on a schedule.')
    .addHelpText('after', '\nExample:\n  skep run -c /etc/skep/skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ keep }, { untilSignal }] = await Promise.all([import('./keep.ts'), import('./signals.ts')]);
      await keep(config, {
        enough: untilSignal(),
        out: (text) => void process.stdout.write(text),
        err: (text) => void process.stderr.write(text),
      });
    });
}
