// Renders the state of an instance as lines for people and as JSON, version 1.

import type { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import type { CommandOf } from '#std/words/command-of.ts';
import { countText } from '#std/words/count-text.ts';
import { fullTime, type TimeText } from '#std/words/time-text.ts';
import type { Troubled } from '../run/operate/resources-status.ts';
import type { InstanceStatus, Since } from '../run/operate/status.ts';
import { nameOfWaiting } from './deletion-text.ts';
import { stateText } from './history.ts';
import { textOfQuarantined, waitLines, whyPaused } from './text.ts';
import { shareOf, TROUBLES } from './troubles.ts';
import { visible, visibleLines } from './visible.ts';

/** Last run that this machine has observed. The stored history may lack this run. */
export interface LastLook {
  readonly id: string;
  readonly finishedAt: string;
}

const MARKS = { create: '+', update: '~', delete: '-' } as const;
/** Maximum number of lines per section. The JSON output has all entries. */
const LINES_MAX = 20;
const NAMED_MAX = 3;

export function textOfStatus(
  status: InstanceStatus,
  lastLook: LastLook | undefined,
  commandOf: CommandOf,
  timeText: TimeText = fullTime,
): string {
  const { uncertain, problems, failures, troubled } = status;
  return visibleLines([
    `${status.instance}: ${headlineOf(status)}`,
    ...Object.entries(status.commits).map(([source, commit]) => `source ${source} at ${commit}`),
    ...status.quarantined.map((each) => textOfQuarantined(each, commandOf)),
    ...(status.paused === undefined ? [] : [`nothing is written: ${inOneLine(whyPaused(status.paused, commandOf))}`]),
    ...waitLines(status),
    ...section('could not be read', failures, textOfFailure),
    ...section('problems', problems, (each) => `${inOneLine(formatProblem(each))}${sinceOf(each, timeText)}`),
    ...outOfSyncLines(status, timeText),
    ...section('may differ: the next run checks with the API server', uncertain, (each) => each),
    ...section('differ, and left to another manager (apply.conflicts: report)', fieldsIn(status, 'kept'), textOfField),
    ...section('left to another manager (skep.dev/ignore-fields)', fieldsIn(status, 'left'), textOfField),
    ...approvalLines(status, commandOf, timeText),
    ...section('kept unchanged', heldGroups(status), (each) => textOfHeld(each, timeText)),
    ...TROUBLES.flatMap(({ title, has }) =>
      section(title, troubled.filter(has), (each) => textOfTroubled(each, timeText)),
    ),
    ...lastLines(status, lastLook, commandOf, timeText),
  ]);
}

/** Returns one line per object. A child is counted at its owner if the owner is listed. */
function outOfSyncLines({ outOfSync }: InstanceStatus, timeText: TimeText): string[] {
  const listed = new Set(outOfSync.map(({ resource }) => resource));
  const follows = ({ owner }: OutOfSync) => owner !== undefined && listed.has(owner);
  const followers = Map.groupBy(outOfSync.filter(follows), ({ owner }) => owner);
  return section(
    'out of sync',
    outOfSync.filter((each) => !follows(each)),
    (each) => {
      const made = followers.get(each.resource)?.length ?? 0;
      const fields = several(each.fields ?? []);
      const what = [each.resource, ...(fields === '' ? [] : [`: ${fields}`]), ...(made === 0 ? [] : [withMade(made)])];
      return `${MARKS[each.action]} ${what.join('')}${sinceOf(each, timeText, 'failing since')}`;
    },
  );
}

type StatusField = InstanceStatus['fields'][number];

function fieldsIn({ fields }: InstanceStatus, state: StatusField['state']): readonly StatusField[] {
  return fields.filter((each) => each.state === state);
}

function textOfField({ resource, path, manager }: StatusField): string {
  return `${resource}: ${path}, set by ${manager}`;
}

type OutOfSync = InstanceStatus['outOfSync'][number];

function withMade(count: number): string {
  return `, ${madeOf(count)} it`;
}

function madeOf(count: number): string {
  return `and ${countText(count, 'object')} made of`;
}

function approvalLines({ approvals }: InstanceStatus, commandOf: CommandOf, timeText: TimeText): string[] {
  return approvals.flatMap((approval) => {
    const { hash, reasons, deletions, following } = approval;
    const follows = new Set(following);
    const own = deletions.filter((id) => !follows.has(id));
    const rest = following.length === 0 ? [] : [`  ${madeOf(following.length)} them`];
    const title = `${nameOfWaiting(approval)} wait for approval${sinceOf(approval, timeText)}: ${reasons.join('; ')}`;
    const action = `  to ${deletions.length === 0 ? 'write them' : 'delete exactly these'}: ${commandOf(`approve ${hash}`)}`;
    return deletions.length === 0 ? [title, action] : [...section(title, own, (id) => `- ${id}`), ...rest, action];
  });
}

interface HeldGroup extends Since {
  readonly reason: string;
  readonly resources: readonly string[];
}

/**
 * Returns the objects that are kept unchanged, by reason and time. Objects that wait for approval are left out, because
 * they have a section of their own.
 */
function heldGroups({ held, approvals }: InstanceStatus): readonly HeldGroup[] {
  const waiting = new Set(approvals.flatMap(({ deletions }) => deletions));
  const groups = Map.groupBy(
    held.filter(({ resource }) => !waiting.has(resource)),
    ({ reason, since = '' }) => JSON.stringify([reason, since]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, resources: group.map(({ resource }) => resource) }];
  });
}

function textOfHeld(group: HeldGroup, timeText: TimeText): string {
  return `${inOneLine(group.reason)}${sinceOf(group, timeText)}: ${several(group.resources)}`;
}

function several(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return more <= 0 ? names.join(', ') : `${names.slice(0, NAMED_MAX).join(', ')} and ${more} more`;
}

export function jsonOfStatus(status: InstanceStatus, lastLook: LastLook | undefined): string {
  const { quarantined, waits, problems, failures, lastRun, ...rest } = status;
  const shown = {
    version: 1,
    verdict: headlineOf(status),
    ...rest,
    quarantined: quarantined.map(({ older: _older, ...entry }) => entry),
    waits: waits.map(({ passes: _passes, ...wait }) => wait),
    problems: problems.map(({ place, ...problem }) => ({ ...problem, ...(place ?? {}) })),
    failures: failures.map(({ code, message }) => ({ code, message })),
    lastRun: lastRun === undefined ? null : shortRun(lastRun),
    lastLook: lastLook === undefined ? null : { id: lastLook.id, finishedAt: lastLook.finishedAt },
  };
  return `${visible(JSON.stringify(shown, null, 2))}\n`;
}

/** Returns the most important facts in a few words. */
function headlineOf(status: InstanceStatus): string {
  const { outOfSync, uncertain, held, approvals, waits, problems, failures, troubled, resources } = status;
  if (!status.reached) return `nothing is known: ${failures.map(({ code }) => code).join(', ')}`;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const waiting = approvals.flatMap(({ deletions }) => deletions).length;
  const others = held.length - waiting;
  const isStranger = approvals.some(({ deletions }) => deletions.length === 0);
  const kept = fieldsIn(status, 'kept').length;
  const differs = isStranger || outOfSync.length + uncertain.length + kept + waiting + others + failures.length > 0;
  return [
    ...pausedWords(status),
    ...(failures.length === 0 ? [] : [`${failures.length} could not be read`]),
    ...(errors === 0 ? [] : [countText(errors, 'problem')]),
    ...(differs ? [] : [errors === 0 ? 'in sync' : 'otherwise in sync']),
    ...(isStranger ? ['all changes wait for approval'] : []),
    ...(outOfSync.length === 0 ? [] : [`${outOfSync.length} out of sync`]),
    ...(uncertain.length === 0 ? [] : [`${uncertain.length} may differ`]),
    ...(kept === 0 ? [] : [countText(kept, 'field differs', 'fields differ')]),
    ...(waiting === 0 ? [] : [`${countText(waiting, 'deletion waits', 'deletions wait')} for approval`]),
    ...(waits.length === 0 ? [] : [`${countText(waits.length, 'source waits', 'sources wait')} for another one`]),
    ...(others <= 0 ? [] : [`${others} held`]),
    ...TROUBLES.flatMap(({ title, has }) => shareOf(troubled.filter(has).length, resources.total, title)),
  ].join(', ');
}

function pausedWords({ paused, quarantined }: InstanceStatus): string[] {
  const words = { suspension: 'suspended', window: 'outside its sync windows' } as const;
  return [
    ...(paused === undefined ? [] : [words[paused.by]]),
    ...(quarantined.length === 0 ? [] : [`${quarantined.map(({ source }) => source).join(', ')} rolled back`]),
  ];
}

function textOfTroubled({ resource, phase, conditions }: Troubled, timeText: TimeText): string {
  const head = phase === undefined ? resource : `${resource} is ${phase}`;
  const reasons = conditions.map((each) => inOneLine(`${each.reason}: ${each.message}${sinceOf(each, timeText)}`));
  return [head, ...reasons].join('\n      ');
}

function textOfFailure({ code, message }: Failure): string {
  return inOneLine(`${code}: ${message}`);
}

/** Joins the lines of a text from another author. Otherwise its lines could look like lines of this report. */
function inOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

function lastLines(
  { lastRun, lock, reached }: InstanceStatus,
  lastLook: LastLook | undefined,
  commandOf: CommandOf,
  timeText: TimeText,
): string[] {
  const last =
    lastRun === undefined
      ? reached
        ? 'no run has been recorded yet'
        : 'the last run is not known: the cluster, which has the record, was not reached'
      : `last recorded run: ${stateText(lastRun)}, ${atText(lastRun.finishedAt, timeText)}; to see the run: ${commandOf(`history ${lastRun.id.slice(0, 8)}`)}`;
  return [
    last,
    ...(lastLook === undefined ? [] : [`last run on this machine: ${atText(lastLook.finishedAt, timeText)}`]),
    ...(reached ? [textOfLock(lock, timeText)] : []),
  ];
}

function textOfLock(lock: InstanceStatus['lock'], timeText: TimeText): string {
  if (lock === undefined) return 'no run is under way';
  const { holder, renewedAt, expired } = lock;
  if (expired !== true) return `run ${holder} is under way, its lock renewed ${atText(renewedAt, timeText)}`;
  return `no run is under way; run ${holder} ended without releasing the lock, last renewed ${atText(renewedAt, timeText)}`;
}

function shortRun(run: NonNullable<InstanceStatus['lastRun']>): object {
  const { id, startedAt, finishedAt, state, commits, summary } = run;
  return { id, startedAt, finishedAt, state, commits, summary };
}

function section<T>(title: string, entries: readonly T[], line: (entry: T) => string): string[] {
  if (entries.length === 0) return [];
  const more = entries.length - LINES_MAX;
  const rest = more <= 0 ? [] : [`  and ${more} more; to see all, add -o json`];
  return [`${title}:`, ...entries.slice(0, LINES_MAX).map((entry) => `  ${line(entry)}`), ...rest];
}

function sinceOf({ since }: Since, timeText: TimeText, word = 'since'): string {
  return since === undefined ? '' : ` (${word} ${timeText(since)})`;
}

/** Returns `at 2026-03-10T12:00:00Z` or `12 s ago`. */
function atText(time: string, timeText: TimeText): string {
  const text = timeText(time);
  return text === time ? `at ${time}` : text;
}
