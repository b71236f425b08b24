// `skep sync`: makes one run, then exits.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import {
  findPauseNow,
  ignoreWindowsOption,
  PAUSED_HELP,
  type WindowFlags,
} from '#hosts/reconciler/instance/paused-now.ts';

interface Options extends InstanceFlags, WindowFlags {
  readonly output: 'text' | 'json';
}

export function syncCommand(): Command {
  return withInstanceFlags(new Command('sync'))
    .description('Make the cluster as declared in Git, once, and wait until it is ready.')
    .addOption(outputOption())
    .addOption(ignoreWindowsOption())
    .addHelpText(
      'after',
      `\nWaits for the fleet at most apply.waitSeconds of skep.yaml (300), and exits with 8 if it is not ready then. The changes stay.\n${PAUSED_HELP}\nExamples:\n  skep sync -c skep.yaml -o json\n  skep sync -c skep.yaml --ignore-windows`,
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { runAndTell }, { patienceOnce, openSourceLoops }, { systemClock }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/one-run.ts'),
        import('#hosts/reconciler/loop/source-loops.ts'),
        import('#hosts/clock.ts'),
      ]);
      const loops = openSourceLoops(systemClock, patienceOnce(config), () => undefined);
      await runAndTell(
        flags,
        (progress, watch) => openInstance(config, progress, watch, undefined, { loops, once: true }),
        async (instance) => instance.run(await findPauseNow(config, flags)),
      );
    });
}
