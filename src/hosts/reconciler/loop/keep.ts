// Runs `skep run`: opens an instance, the loop of its runs, the watches that wake the loop, and the listener.

import type { Logger } from 'pino';
import type { KeptListsOptions } from '#adapters/cluster/kept/kept-lists.ts';
import { celPackage } from '#kubernetes/rules/cel/package.ts';
import { createRunMetrics, type RunMetrics } from '#reconciler/control/metrics.ts';
import type { Ending, Runs, RunWatcher, Trigger } from '#reconciler/control/ports.ts';
import { createVitals, type Pulse } from '#reconciler/control/vitals.ts';
import { jsonOfHistory, jsonOfRecord } from '#reconciler/report/history.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import { takeTurn } from '#reconciler/run/turns.ts';
import { yamlPackage } from '#std/yaml/package.ts';
import { awaitWithin, systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { VERSION } from '../../version.ts';
import type { WriteAudit } from '../console/action-record.ts';
import { withoutConsoleReads } from '../console/console-reads.ts';
import { type FleetFeed, openFleetFeed } from '../console/fleet.ts';
import { type Instance, openInstance, openOutbound } from '../instance/instance.ts';
import type { InstanceWatch } from '../instance/watch.ts';
import type { ControlListener, ControlSubject } from './control.ts';
import { type Cron, readCron } from './cron.ts';
import { type RunListener, startRuns } from './runs.ts';
import type { Scheduled } from './schedule.ts';
import { KEEPING, openSourceLoops } from './source-loops.ts';
import { createStopping, type Stopping } from './stopping.ts';
import type { Teller } from './teller.ts';
import { openWakes, type Wakes } from './wakes.ts';

export interface KeepOptions {
  /** Resolves when the process must stop. Requests in flight are then finished, and no further change is made. */
  readonly enough: Promise<void>;
  readonly teller: Teller;
  /** Logger of the listener. */
  readonly logger: Logger;
}

/**
 * Time that a run has to end after the stop. A run that takes longer is abandoned: it writes nothing more, and its
 * lease expires.
 */
const STOP_WITHIN_MS = 20_000;
/** Time for closing the instance after the stop. */
const CLOSE_WITHIN_MS = 3_000;

/** Resolves after the stop. The result is false if the current run did not end in time. */
export async function keepRunning(config: Config, { enough, teller, logger }: KeepOptions): Promise<boolean> {
  await loadAhead();
  const { monotonic } = systemClock;
  const sources = config.sources.map(({ name }) => name);
  const vitals = createVitals({ sources, monotonic });
  const interval = intervalOf(readCron(config.schedule, config.timeZone));
  const metrics = createRunMetrics({ version: VERSION, monotonic, sources, interval });
  const stopping = createStopping();
  let runs: Scheduled | undefined;
  let wakes: Wakes | undefined;
  const loops = openSourceLoops(systemClock, KEEPING, () => void runs?.trigger('source'));
  const feed = config.http === undefined ? undefined : openFleetFeed(config, auditTo(logger));
  const watch = { ...watchFor(vitals, metrics, teller, stopping), looked: feed?.looked };
  const wake = () => void runs?.trigger('watch');
  const { promise: broken, reject: fail } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  const changed: KeptListsOptions['changed'] = (changes) => wakes?.take(changes);
  const keepsLists = { changed, lost: wake, missed: tellMissed(metrics, teller), say: teller.say, fail };
  const instance = await openInstance(config, teller.outcome, watch, undefined, { loops, threads: true, keepsLists });
  try {
    // A request before the first run is covered by the first run.
    const trigger: Trigger = (reason) => runs?.trigger(reason) ?? false;
    const shown = config.snapshot === undefined ? {} : { snapshot: instance.snapshot };
    const subject = { vitals, metrics, trigger, runs: runsOf(instance), sources: config.sources, ...shown };
    const control = await openControl(config, feed && { ...subject, ...consoleOf(feed, instance, trigger) }, logger);
    try {
      wakes = openWakes({ clock: systemClock, wake }, instance.options());
      runs = startRuns(instance, config, {
        ...listenerFor([vitals, metrics], teller, feed),
        beat: vitals.beat,
        differs: tellDifference(metrics, teller),
        queued: metrics.queued,
      });
      teller.say(textOfKeeping(config));
      return await keepUntil(enough, { runs, broken, stopping });
    } finally {
      wakes?.close();
      await control?.stop();
    }
  } finally {
    await awaitWithin(CLOSE_WITHIN_MS, instance.close());
  }
}

/** Writes records of actions to the log, whatever its level is. */
function auditTo(logger: Logger): WriteAudit {
  const log = logger.child({ audit: true }, { level: 'info' });
  return (text, facts) => log.info(facts, text);
}

function consoleOf(feed: FleetFeed, instance: Instance, trigger: Trigger): Pick<ControlSubject, 'fleet' | 'actions'> {
  return { fleet: feed.shown(instance), actions: feed.acting(() => void trigger('request')) };
}

interface Kept {
  readonly runs: Scheduled;
  /** Rejects if a watch throws an error that is not a Failure. Never resolves. */
  readonly broken: Promise<never>;
  readonly stopping: Stopping;
}

/** Resolves to true if the runs ended in time after the stop. Rejects like `broken`. */
async function keepUntil(enough: Promise<void>, { runs, broken, stopping }: Kept): Promise<boolean> {
  let inTime = false;
  try {
    await Promise.race([enough, broken]);
  } finally {
    stopping.stop();
    inTime = await awaitWithin(STOP_WITHIN_MS, runs.stop());
  }
  return inTime;
}

function textOfKeeping({ name, sources, schedule }: Config): string {
  const repositories = sources.map(({ repository }) => repository).join(', ');
  if (repositories === '')
    return `reconciling the children of the custom resources for ${name}, at each change and at ${schedule}`;
  return `keeping ${name} as ${repositories} says, at ${schedule}`;
}

/**
 * Reports a change that only a LIST showed. A watch should have reported the change, so this program or the API server
 * has a fault.
 */
function tellMissed(metrics: RunMetrics, { say }: Teller) {
  return (kind: string, objects: readonly string[]): void => {
    metrics.missed(kind, objects.length);
    const more = objects.length > MISSED_NAMED ? ` and ${objects.length - MISSED_NAMED} more` : '';
    const named = objects.slice(0, MISSED_NAMED).join(', ');
    say(`only a LIST, and no watch, reported that these objects changed: ${named}${more}; report it with the release`);
  };
}

/** Reports that a proof has found a wrong stored result. */
function tellDifference(metrics: RunMetrics, { say }: Teller): NonNullable<RunListener['differs']> {
  return (stage, key) => {
    const [, kind = ''] = key.split('/');
    metrics.missed(kind, 1);
    say(`a proof showed that the stored result about ${key} (${stage}) was out of date; report it with the release`);
  };
}

const MISSED_NAMED = 3;

/** Loads packages at the start, because loading them during a run would block all other work. */
async function loadAhead(): Promise<void> {
  for (const load of [celPackage, yamlPackage]) {
    load();
    await takeTurn();
  }
}

/** Returns a function that returns the seconds between the next two scheduled times. */
function intervalOf({ next }: Cron): () => number {
  return () => {
    const first = next(systemClock.now());
    return (next(first) - first) / 1000;
  };
}

function watchFor(vitals: Pulse, metrics: RunMetrics, { traced }: Teller, stopping: Stopping): InstanceWatch {
  // Requests of the console do not count as progress. Otherwise an open console would hide a stuck run.
  const progressed = withoutConsoleReads(vitals.requested);
  return {
    requested(exchange) {
      progressed(exchange);
      metrics.requested(exchange);
    },
    fetched: metrics.fetched,
    progressed: vitals.progressed,
    lock: metrics.lock,
    traced,
    stopping,
  };
}

function listenerFor(watchers: readonly RunWatcher[], teller: Teller, feed: FleetFeed | undefined): RunListener {
  function end(ending: Ending): void {
    for (const each of watchers) each.ended(ending);
  }
  return {
    began(reason, runId) {
      for (const each of watchers) each.began(reason);
      feed?.began(runId);
      teller.began({ runId });
    },
    result(result, before) {
      end({ result });
      feed?.ended(result);
      teller.result(result, before);
    },
    failure(failure) {
      end({ failure });
      feed?.failed(failure);
      teller.failure(failure);
    },
  };
}

/** Maximum number of runs on the console's page and in its data. */
const SHOWN_RUNS = 50;

/** Returns the runs that the listener and the page of `skep dev` show. */
export function runsOf({ history }: Pick<Instance, 'history'>): Runs {
  return {
    list: async () => jsonOfHistory(await history.latest(SHOWN_RUNS)),
    find: async (start) => jsonOfRecord(findRun(await history.latest(SHOWN_RUNS), start)),
  };
}

async function openControl(
  config: Config,
  subject: ControlSubject | undefined,
  logger: Logger,
): Promise<ControlListener | undefined> {
  const { http } = config;
  if (http === undefined || subject === undefined) return undefined;
  const { startControl } = await import('./control.ts');
  return startControl(http, { openOutbound: () => openOutbound(config) }, subject, logger);
}
