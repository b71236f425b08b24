// Renders a plan for the log of a GitHub workflow: its lines as text, and its problems as annotations.

import type { Problem } from '#std/problem.ts';
import type { RunResult } from '../../run/result.ts';
import type { ReportContext } from '../context.ts';
import { textOfPlan } from '../text.ts';
import { annotations } from './github.ts';

export function githubOfPlan(result: RunResult, context: ReportContext): string {
  const failures = result.failures.map(({ code, message }): Problem => ({ code, severity: 'error', message }));
  const reported = annotations([...failures, ...result.problems], context);
  const plan = textOfPlan({ ...result, problems: [], failures: [] }, context);
  return [...reported, ...inert(plan)].map((line) => `${line}\n`).join('');
}

/**
 * Returns the lines of a text, changed so that the runner finds no command in them. The text may contain parts of
 * manifests. A carriage return also ends a line for the runner.
 */
export function inert(text: string): readonly string[] {
  const lines = text.trimEnd().split(/\r\n?|\n/);
  return lines.map((line) => line.replaceAll('##[', '## [').replace(/^(\s*)::/, '$1: :'));
}
