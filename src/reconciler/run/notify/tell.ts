// Notifies channels once of each new state. Limits the number of notices about a state that keeps changing. Pauses if a
// channel does not respond.

import { Failure } from '#std/failure.ts';
import type { RunRecord } from '../history/ports.ts';
import type { Clock } from '../ports.ts';
import { type Channel, type LastNotice, type Memory, NOTHING_NEW, type Notice } from './ports.ts';
import { addChanges, limitOutcomes } from './unsent.ts';

export interface NoticesOptions {
  readonly channels: readonly Channel[];
  readonly memory: Memory;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Notices {
  /** Notifies the channels. Resolves with the failures. A second call for the same run sends nothing. */
  tell(record: RunRecord): Promise<readonly Failure[]>;
}

/**
 * Maximum number of notices per hour about one subject (`TIMES_MAX`) and about all subjects (`TIMES_IN_ALL_MAX`). After
 * a maximum, the channel gets the current state in the first run that is within both limits again.
 */
const TIMES_MAX = 10;
const TIMES_IN_ALL_MAX = 60;
const HOUR_MS = 3_600_000;
/** Pause after a failed attempt, in milliseconds. Each further failed attempt doubles the pause, up to an hour. */
const PAUSE_MS = 60_000;

interface Result {
  readonly remembered?: readonly [key: string, last: LastNotice];
  readonly failure?: Failure;
}

interface Silence {
  readonly until: number;
  readonly pauseMs: number;
}

export function openNotices({ channels, memory, clock }: NoticesOptions): Notices {
  let known: ReadonlyMap<string, LastNotice> | undefined;
  const silences = new Map<string, Silence>();

  async function tellOne(channel: Channel, record: RunRecord): Promise<Result> {
    const { key } = channel;
    const notice = channel.notice(record);
    const before = known?.get(key);
    const now = clock.now();
    if (notice === undefined || !isNews(notice, before)) return {};
    if ((silences.get(key)?.until ?? 0) > now || !isWithinLimits(notice, before, now))
      return keepChanges(channel, record, before);
    try {
      await channel.send({ ...notice, before: before?.state, unsent: before?.unsent });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const requestedMs = Number(error.data.retryAfterMs ?? 0);
      const pauseMs = Math.min(Math.max((silences.get(key)?.pauseMs ?? PAUSE_MS / 2) * 2, requestedMs), HOUR_MS);
      silences.set(key, { until: now + pauseMs, pauseMs });
      return { ...keepChanges(channel, record, before), failure: error };
    }
    silences.delete(key);
    const at = [...(before?.at ?? []), new Date(now).toISOString()].slice(-TIMES_IN_ALL_MAX);
    const times = before?.about === notice.about ? before.times + 1 : 1;
    return { remembered: [key, { state: notice.state, about: notice.about, at, times }] };
  }

  return {
    async tell(record) {
      try {
        known ??= await memory.read();
        const results = await Promise.all(channels.map((channel) => tellOne(channel, record)));
        const remembered = results.flatMap((result) => (result.remembered === undefined ? [] : [result.remembered]));
        const failures = results.flatMap(({ failure }) => failure ?? []);
        if (remembered.length === 0) return failures;
        known = new Map([...known, ...remembered]);
        await memory.write(known);
        return failures;
      } catch (error) {
        if (error instanceof Failure) return [error];
        throw error;
      }
    },
  };
}

/** Stores the changes of a run whose notice was not sent, for the next notice of the channel. */
function keepChanges({ key, namesChanges }: Channel, record: RunRecord, before: LastNotice | undefined): Result {
  const unsent = namesChanges === true ? addChanges(before?.unsent, record) : undefined;
  if (unsent === undefined || unsent === before?.unsent) return {};
  return { remembered: [key, { ...(before ?? NEVER_NOTIFIED), unsent: limitOutcomes(unsent) }] };
}

const NEVER_NOTIFIED: LastNotice = { about: '', at: [], times: 0 };

function isNews(notice: Pick<Notice, 'state' | 'about'>, before: LastNotice | undefined): boolean {
  if (before?.state === undefined || before.unsent !== undefined) return true;
  const same = isAboutSame(notice, before);
  if (same && before.state === notice.state) return false;
  // A restart of pods after the commit was applied successfully is not news about the commit.
  return !(same && before.state === 'success' && notice.state === 'pending');
}

function isAboutSame({ about }: Pick<Notice, 'about'>, before: LastNotice): boolean {
  return before.about === about || about === NOTHING_NEW;
}

function isWithinLimits(notice: Pick<Notice, 'about'>, before: LastNotice | undefined, now: number): boolean {
  if (before === undefined) return true;
  const recent = before.at.filter((at) => now - Date.parse(at) < HOUR_MS).length;
  // Each commit must get its status, even if commits follow one another quickly.
  return recent < TIMES_IN_ALL_MAX && (!isAboutSame(notice, before) || Math.min(recent, before.times) < TIMES_MAX);
}
