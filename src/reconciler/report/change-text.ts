// Renders changes of objects as lines for people.

import { lazyPackage } from '#std/lazy-package.ts';
import { formatId } from '#std/problem.ts';
import type { Change, Plan } from '../run/plan/plan.ts';

const diffPackage = lazyPackage<typeof import('diff')>('diff');

const MARKS = { create: '+', update: '~', delete: '-' } as const;

export interface Counts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
}

export function countsOf(plan: Plan): Counts {
  const actions = plan.batches.flatMap((batch) => batch.changes.map((change) => change.action));
  function count(action: Change['action']): number {
    return actions.filter((each) => each === action).length;
  }
  return { create: count('create'), update: count('update'), delete: count('delete') };
}

export function textOfChange(change: Change): string[] {
  const id = formatId(change.resource);
  if (change.action === 'delete') return [`  ${MARKS.delete} ${id}`];
  const refused = change.preview?.result === 'refused' ? [lineOfRefusal(change.preview)] : [];
  if (change.action === 'create') return [`  ${MARKS.create} ${id}`, ...refused];
  const head = change.replaces === true ? `  -/+ ${id} (deleted and created again)` : `  ${MARKS.update} ${id}`;
  return [head, ...change.diff.flatMap(textOfDifference), ...refused];
}

function lineOfRefusal({ code, message }: { readonly code: string; readonly message: string }): string {
  return `      the API server refuses it: ${message} [${code}]`;
}

/** Returns lines about the changes without a dry run, one line per reason. */
export function unpreviewed({ batches }: Plan): string[] {
  const byReason = new Map<string, string[]>();
  for (const change of batches.flatMap((batch) => batch.changes)) {
    if (change.action === 'delete' || change.preview?.result !== 'skipped') continue;
    const { reason } = change.preview;
    byReason.set(reason, [...(byReason.get(reason) ?? []), formatId(change.resource)]);
  }
  return [...byReason].map(([reason, ids]) => `not checked by the API server (${reason}): ${several(ids)}`);
}

/**
 * Returns one line for short values. For texts of several lines, returns the changed lines, with one unchanged line
 * before and after.
 */
export function textOfDifference({ path, before, after }: Change['diff'][number]): string[] {
  if (!isLong(before) || !isLong(after)) return [`      ${path}: ${formatValue(before)} -> ${formatValue(after)}`];
  const { hunks } = diffPackage().structuredPatch('', '', before, after, '', '', { context: 1 });
  return [`      ${path}:`, ...hunks.flatMap((hunk) => hunk.lines.map((line) => `        ${line}`))];
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\n');
}

/** Joins the first three ids, and counts the remaining ids: a first commit may have thousands of objects. */
export function several(ids: readonly string[]): string {
  const more = ids.length - SHOWN;
  return more <= 0 ? ids.join(', ') : `${ids.slice(0, SHOWN).join(', ')} and ${more} more`;
}

const SHOWN = 3;

export function formatValue(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value);
}
