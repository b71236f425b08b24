// The results of the conformance suite as text for a terminal.

import { isClean } from './expected.ts';
import type { ModeReport } from './run.ts';

const COLUMNS = ['mode', 'revision', 'passed', 'expected to fail', 'failed', 'stale', 'missing', 'seconds', ''];

export function reportTable(reports: readonly ModeReport[]): string {
  const rows = reports.map(({ mode, revision, comparison, seconds }) => [
    mode,
    revision,
    String(comparison.passed),
    String(comparison.expected.length),
    String(comparison.unexpected.length),
    String(comparison.stale.length),
    String(comparison.missing.length),
    seconds.toFixed(1),
    isClean(comparison) ? 'ok' : 'DIFFERS',
  ]);
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[COLUMNS, ...rows].map(line).join('\n')}\n`;
}

/** What differs from the committed lists, a line each; empty where nothing does. */
export function differences(reports: readonly ModeReport[]): string {
  const lines = reports.flatMap(({ mode, revision, comparison }) => [
    ...comparison.unexpected.map(
      ({ scenario, check, message }) => `${mode} ${revision}: ${scenario}: ${check} failed: ${message}`,
    ),
    ...comparison.stale.map(
      ({ scenario, check }) => `${mode} ${revision}: ${scenario}: ${check} passes: remove it from the list`,
    ),
    ...comparison.missing.map((scenario) => `${mode} ${revision}: ${scenario} left no results`),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
