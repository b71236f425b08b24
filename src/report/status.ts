// How an instance is, as lines for people and as JSON, version 1. Knows nothing about where it was read.

import type { InstanceStatus, Since, Troubled } from '../reconcile/status.ts';
import type { Failure } from '../std/failure.ts';
import { formatProblem } from '../std/problem.ts';
import { textOfQuarantined, whyPaused } from './text.ts';

/** The last run that this machine has seen, also one that was no news. */
export interface LastLook {
  readonly id: string;
  readonly finishedAt: string;
}

const MARKS = { create: '+', update: '~', delete: '-' } as const;

export function textOfStatus(status: InstanceStatus, lastLook: LastLook | undefined): string {
  const { outOfSync, uncertain, held, approval, problems, failures, troubled } = status;
  const waiting = new Set(approval?.deletions);
  return lines([
    `${status.instance}: ${verdictOf(status)}`,
    ...Object.entries(status.commits).map(([source, commit]) => `source ${source} at ${commit}`),
    ...status.quarantined.map(textOfQuarantined),
    ...(status.paused === undefined ? [] : [`nothing is written: ${whyPaused(status.paused)}`]),
    ...section(
      'out of sync',
      outOfSync,
      (each) => `${MARKS[each.action]} ${each.resource}${sinceOf(each, 'failing since')}`,
    ),
    ...section('may differ (only a run can tell)', uncertain, (each) => each),
    ...(approval === undefined
      ? []
      : section(
          `deletions wait for approval${sinceOf(approval)}: skep approve ${approval.hash}`,
          approval.deletions,
          (id) => `- ${id}`,
        )),
    ...section(
      'held as they live',
      held.filter(({ resource }) => !waiting.has(resource)),
      (each) => `${each.resource}: ${each.reason}${sinceOf(each)}`,
    ),
    ...section('problems', problems, (each) => `${formatProblem(each)}${sinceOf(each)}`),
    ...section('could not be read', failures, textOfFailure),
    ...section('not as they should be', troubled, textOfTroubled),
    ...lastLines(status, lastLook),
  ]);
}

export function jsonOfStatus(status: InstanceStatus, lastLook: LastLook | undefined): string {
  const { quarantined, problems, failures, lastRun, ...rest } = status;
  return `${JSON.stringify(
    {
      version: 1,
      verdict: verdictOf(status),
      ...rest,
      quarantined: quarantined.map(({ older: _older, ...entry }) => entry),
      problems: problems.map(({ place, ...problem }) => ({ ...problem, ...(place ?? {}) })),
      failures: failures.map(({ code, message }) => ({ code, message })),
      lastRun: lastRun === undefined ? null : shortRun(lastRun),
      lastLook: lastLook === undefined ? null : { id: lastLook.id, finishedAt: lastLook.finishedAt },
    },
    null,
    2,
  )}\n`;
}

/** What matters most, in a few words. */
function verdictOf({ outOfSync, held, approval, problems, failures, troubled, resources }: InstanceStatus): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const parts = [
    ...(failures.length === 0 ? [] : [`${failures.length} could not be read`]),
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? 'problem' : 'problems'}`]),
    outOfSync.length === 0 ? 'in sync' : `${outOfSync.length} out of sync`,
    ...(approval === undefined ? [] : [`${approval.deletions.length} deletions wait for approval`]),
    ...(approval !== undefined || held.length === 0 ? [] : [`${held.length} held`]),
    ...(troubled.length === 0 ? [] : [`${troubled.length} of ${resources.total} not ready`]),
  ];
  return parts.join(', ');
}

function textOfTroubled({ resource, phase, conditions }: Troubled): string {
  const head = phase === undefined ? resource : `${resource} is ${phase}`;
  const reasons = conditions.map((each) => `${each.reason}: ${each.message}${sinceOf(each)}`);
  return [head, ...reasons].join('\n      ');
}

function textOfFailure({ code, message }: Failure): string {
  return `${code}: ${message}`;
}

function lastLines({ lastRun, lock }: InstanceStatus, lastLook: LastLook | undefined): string[] {
  const last =
    lastRun === undefined
      ? 'no run has been recorded yet'
      : `last run with news: ${lastRun.id.slice(0, 8)}, ${lastRun.state}, at ${lastRun.finishedAt} (skep history ${lastRun.id.slice(0, 8)})`;
  return [
    last,
    ...(lastLook === undefined ? [] : [`last run from here: at ${lastLook.finishedAt}`]),
    lock === undefined ? 'no run is writing' : `run ${lock.holder} has the lock, renewed at ${lock.renewedAt}`,
  ];
}

function shortRun(run: NonNullable<InstanceStatus['lastRun']>): object {
  const { id, startedAt, finishedAt, state, commits, summary } = run;
  return { id, startedAt, finishedAt, state, commits, summary };
}

function section<T>(title: string, entries: readonly T[], line: (entry: T) => string): string[] {
  return entries.length === 0 ? [] : [`${title}:`, ...entries.map((entry) => `  ${line(entry)}`)];
}

function sinceOf({ since }: Since, word = 'since'): string {
  return since === undefined ? '' : ` (${word} ${since})`;
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
