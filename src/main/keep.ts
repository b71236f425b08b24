// What `skep run` is made of: an instance, the loop of its runs, those who watch it, and the listener that answers.

import { createRunMetrics, type RunMetrics } from '../control/metrics.ts';
import type { Ending, RunWatcher, Trigger } from '../control/ports.ts';
import { createVitals, type Pulse } from '../control/vitals.ts';
import { tellOutcomes, textOfChanges } from '../report/text.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { ControlListener, ControlSubject } from './control.ts';
import { openInstance } from './instance.ts';
import type { InstanceWatch } from './instance-watch.ts';
import { type RunListener, startRuns } from './runs.ts';
import type { Scheduled } from './schedule.ts';
import { VERSION } from './version.ts';

export interface KeepOptions {
  /** Resolves when it is enough: the run under way is finished first. */
  readonly enough: Promise<void>;
  /** What runs did. */
  readonly out: (text: string) => void;
  /** What else there is to say. */
  readonly err: (text: string) => void;
}

export async function keep(config: Config, { enough, out, err }: KeepOptions): Promise<void> {
  const { monotonic } = systemClock;
  const sources = config.sources.map(({ name }) => name);
  const vitals = createVitals({ sources, monotonic });
  const metrics = createRunMetrics({ version: VERSION, monotonic, sources });
  const tell = tellOutcomes((text) => out(`${text}\n`));
  const instance = await openInstance(config, tell, watchFor(vitals, metrics));
  try {
    let runs: Scheduled | undefined;
    // Whoever asks before the first run begins is served by that.
    const trigger: Trigger = (reason) => runs?.trigger(reason) ?? false;
    const control = await openControl(config, { vitals, metrics, trigger, sources: config.sources }, err);
    try {
      runs = startRuns(instance, config, {
        ...listenerFor([vitals, metrics], { out, err }),
        beat: vitals.beat,
        queued: metrics.queued,
      });
      const repositories = config.sources.map(({ repository }) => repository).join(', ');
      err(`keeping ${config.name} as ${repositories} says, at ${config.schedule}\n`);
      await enough;
      await runs.stop();
    } finally {
      await control?.stop();
    }
  } finally {
    await instance.close();
  }
}

function watchFor(vitals: Pulse, metrics: RunMetrics): InstanceWatch {
  return {
    requested(exchange) {
      vitals.progressed();
      metrics.requested(exchange);
    },
    fetched(fetch) {
      vitals.progressed();
      metrics.fetched(fetch);
    },
    lock: metrics.lock,
  };
}

function listenerFor(watchers: readonly RunWatcher[], { out, err }: Pick<KeepOptions, 'out' | 'err'>): RunListener {
  function end(ending: Ending): void {
    for (const each of watchers) each.ended(ending);
  }
  return {
    began(reason) {
      for (const each of watchers) each.began(reason);
    },
    result(result, before) {
      end({ result });
      out(textOfChanges(result, before));
    },
    failure(failure) {
      end({ failure });
      err(`error ${failure.code}: ${failure.message}\n`);
    },
  };
}

async function openControl(
  { http }: Config,
  subject: ControlSubject,
  err: KeepOptions['err'],
): Promise<ControlListener | undefined> {
  if (http === undefined) return undefined;
  const [{ startControl }, { pino }] = await Promise.all([import('./control.ts'), import('pino')]);
  const control = await startControl(http, subject, pino({ level: 'info' }, process.stderr));
  err(`listening at ${control.url}\n`);
  return control;
}
