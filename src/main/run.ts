// `skep run`: runs on the schedule until it is told to stop.

import { Command } from 'commander';
import type { Vitals } from '../control/ports.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type InstanceFlags, loadConfig, withInstanceFlags } from './configuration.ts';
import type { ControlListener } from './control.ts';

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster what Git says, on a schedule.')
    .addHelpText('after', '\nExample:\n  skep run -c /etc/skep/skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { startRuns }, { tellOutcomes, textOfChanges }, { untilSignal }, { createVitals }] =
        await Promise.all([
          import('./instance.ts'),
          import('./runs.ts'),
          import('../report/text.ts'),
          import('./signals.ts'),
          import('../control/vitals.ts'),
        ]);
      const { monotonic } = systemClock;
      const vitals = createVitals({ sources: config.sources.map(({ name }) => name), monotonic });
      const tell = tellOutcomes((text) => process.stdout.write(`${text}\n`));
      const instance = await openInstance(config, (outcome) => {
        vitals.progressed();
        tell(outcome);
      });
      try {
        const control = await openControl(config, vitals);
        const runs = startRuns(instance, config, {
          began: vitals.began,
          result(result, before) {
            vitals.ended({ result });
            process.stdout.write(textOfChanges(result, before));
          },
          failure(failure) {
            vitals.ended({ failure });
            process.stderr.write(`error ${failure.code}: ${failure.message}\n`);
          },
        });
        const sources = config.sources.map(({ repository }) => repository).join(', ');
        process.stderr.write(`keeping ${config.name} as ${sources} says, at ${config.schedule}\n`);
        await untilSignal();
        await control?.stop();
        await runs.stop();
      } finally {
        await instance.close();
      }
    });
}

async function openControl({ http }: Config, vitals: Vitals): Promise<ControlListener | undefined> {
  if (http === undefined) return undefined;
  const [{ startControl }, { pino }] = await Promise.all([import('./control.ts'), import('pino')]);
  const control = await startControl(http, { vitals }, pino({ level: 'info' }, process.stderr));
  process.stderr.write(`listening at ${control.url}\n`);
  return control;
}
