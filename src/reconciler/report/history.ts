// Renders recorded runs as lines for people and as JSON, version 1.

import { countText } from '#std/words/count-text.ts';
import { durationText } from '#std/words/duration-text.ts';
import { fullTime, type TimeText } from '#std/words/time-text.ts';
import { textOfWait } from '#std/words/wait-text.ts';
import type { RecordedDifference, RecordedOutcome, RecordedProblem, RunRecord } from '../run/history/ports.ts';
import { nameOfWaiting } from './deletion-text.ts';
import { visible, visibleLines } from './visible.ts';

export function jsonOfHistory(runs: readonly RunRecord[]): string {
  return print({ version: 1, runs: runs.map(inShort) });
}

export function jsonOfRecord(run: RunRecord): string {
  return print({ version: 1, run });
}

/** Returns one line per run, newest first. */
export function textOfHistory(runs: readonly RunRecord[], timeText: TimeText = fullTime): string {
  if (runs.length === 0) return 'no run has been recorded yet\n';
  const rows = runs.map((run) => [
    run.id.slice(0, 8),
    timeText(run.finishedAt),
    run.state,
    commitsOf(run),
    changesOf(run),
  ]);
  return table([['RUN', 'FINISHED', 'STATE', 'COMMITS', 'WHAT'], ...rows]);
}

export function textOfRecord(run: RunRecord): string {
  const { approvals = [], approved = [], omitted } = run;
  return visibleLines([
    `run ${run.id}: ${stateText(run)}`,
    `  from ${run.startedAt} to ${run.finishedAt}`,
    ...Object.entries(run.commits).map(([source, commit]) => `  ${source} at ${commit}`),
    ...run.pinned.map(({ source, bad }) => `  ${source} was kept there by a rollback, instead of ${bad}`),
    ...run.outcomes.flatMap(linesOfOutcome),
    ...run.catalogue.map(
      ({ source, action, servers }) => `registry ${source}: ${action}, ${countText(servers, 'server')}`,
    ),
    ...run.problems.map(lineOfProblem),
    ...run.failures.map(({ code, message }) => `error ${code}: ${message}`),
    ...approved.map((hash) => `deletions were approved as ${hash}`),
    ...approvals.flatMap(({ source, hash, deletions }) => [
      `${nameOfWaiting({ source, deletions })} waited for approval as ${hash}`,
      ...deletions.map((id) => `  - ${id}`),
    ]),
    ...run.held.map(({ resource, reason }) => `kept unchanged: ${resource}: ${reason}`),
    ...(run.waits ?? []).map((wait) => `${textOfWait(wait)}: ${wait.reason}`),
    ...notReadyLines(run),
    ...(run.drifted ?? []).map(({ resource, why }) => `not as it was reviewed: ${resource}: ${why}`),
    ...Object.entries(omitted).map(([name, count]) => `${count} more ${name} were not kept`),
    changesOf(run),
  ]);
}

const WORDS_OF_NOT_READY = {
  failed: 'in phase Failed',
  late: 'not ready in time',
  progressing: 'not ready when the run ended',
  'not-run': 'not run here',
} as const;

function notReadyLines({ unready, notReady }: RunRecord): string[] {
  if (notReady === undefined) return unready.length === 0 ? [] : [`in phase Failed: ${unready.join(', ')}`];
  return notReady.map(({ resource, state, why }) => {
    return `${WORDS_OF_NOT_READY[state]}: ${resource}${why === '' ? '' : `: ${why.replaceAll(/\s*\n\s*/g, ' ')}`}`;
  });
}

function linesOfOutcome({ action, resource, error, diff = [] }: RecordedOutcome): string[] {
  const reason = error === undefined ? '' : `: ${error.message} [${error.code}]`;
  return [`${resource} ${action}${reason}`, ...diff.map(lineOfDifference)];
}

function lineOfDifference({ path, before, after, long }: RecordedDifference): string {
  return long === true ? `    ${path}: (long)` : `    ${path}: ${formatValue(before)} -> ${formatValue(after)}`;
}

function formatValue(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value);
}

function lineOfProblem({ file, line, column, severity, code, message, resource }: RecordedProblem): string {
  const where = file === undefined ? '' : `${file}:${line}:${column}: `;
  return `${where}${severity} ${code}: ${message}${resource === undefined ? '' : ` (${resource})`}`;
}

/** Returns the record without its long lists. */
function inShort({
  outcomes: _outcomes,
  held: _held,
  problems: _problems,
  notReady: _notReady,
  ...run
}: RunRecord): object {
  return run;
}

function commitsOf({ commits }: RunRecord): string {
  const entries = Object.entries(commits);
  return entries.length === 0 ? '-' : entries.map(([source, commit]) => `${source}@${commit.slice(0, 10)}`).join(' ');
}

/**
 * Returns the state of a run. If a later run found more ready resources, adds their number, as in
 * `succeeded; 9 resources were ready 12 s later`.
 */
export function stateText(run: Pick<RunRecord, 'state' | 'completed' | 'finishedAt'>): string {
  const later = completionText(run);
  return later === '' ? run.state : `${run.state}; ${later}`;
}

function completionText({ completed, finishedAt }: Pick<RunRecord, 'completed' | 'finishedAt'>): string {
  if (completed === undefined || completed.ready === 0) return '';
  const ms = Date.parse(completed.at) - Date.parse(finishedAt);
  return `${countText(completed.ready, 'resource was', 'resources were')} ready ${durationText(ms)} later`;
}

function changesOf({ summary, problems, failures, completed, finishedAt }: RunRecord): string {
  const counts = (['created', 'configured', 'deleted', 'held', 'failed'] as const)
    .filter((action) => summary[action] > 0)
    .map((action) => `${summary[action]} ${action}`);
  const errors = problems.filter(({ severity }) => severity === 'error').length + failures.length;
  const trouble = errors === 0 ? [] : [countText(errors, 'error')];
  const later = completionText({ completed, finishedAt });
  const all = [...counts, ...trouble, ...(later === '' ? [] : [later])];
  return all.length === 0 ? 'nothing changed' : all.join(', ');
}

/** Aligns all columns except the last one. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return visibleLines(
    rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
  );
}

function print(value: object): string {
  return `${visible(JSON.stringify(value, null, 2))}\n`;
}
