// Formats the differences between a tool lock and the definitions of its server for a terminal.

import type { Difference } from '#contracts/tool-lock/compare.ts';
import { doubtfulReason } from '#contracts/tool-lock/doubtful.ts';
import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { formatDefinition } from '#contracts/tool-lock/text.ts';
import { visible } from '#reconciler/report/visible.ts';
import { type JsonObject, jsonEquals } from '#std/json.ts';

const WORDS = { tools: 'tool', prompts: 'prompt', resourceTemplates: 'resource template' } as const;

/** Returns one line per difference. */
export function textOfDifferences(differences: readonly Difference[]): string {
  return LOCKED_LIST_NAMES.flatMap((list) => differences.filter((each) => each.list === list))
    .map((difference) => `  ${lineOf(difference)}\n`)
    .join('');
}

function lineOf({ list, name, before, after }: Difference): string {
  const what =
    before === undefined ? 'new' : after === undefined ? 'gone' : `changed: ${changedMembers(before, after)}`;
  const doubt = after === undefined ? undefined : doubtfulReason(after);
  const look = doubt === undefined ? '' : ` (look at it: ${doubt})`;
  return visible(`${WORDS[list]} ${JSON.stringify(name)} is ${what}${look}`);
}

function changedMembers(before: JsonObject, after: JsonObject): string {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !jsonEquals(before[key], after[key])).join(', ');
}

const GAP = ' | ';
const WIDTH_MIN = 20;

/**
 * Returns the old text on the left and the new text on the right. Lines that differ are marked. `width` is in
 * characters.
 */
export function textSideBySide(differences: readonly Difference[], width: number): string {
  const column = Math.max(WIDTH_MIN, Math.floor((width - GAP.length) / 2));
  return differences
    .map((difference) => {
      const [left, right] = [difference.before, difference.after].map((each) =>
        each === undefined
          ? []
          : formatDefinition(difference.list, each)
              .split('\n')
              .filter((line) => line !== ''),
      );
      return `${lineOf(difference)}\n${rows(left ?? [], right ?? [], column)}`;
    })
    .join('\n');
}

/** Number of equal lines to show before and after a different line. */
const CONTEXT = 3;

function rows(left: readonly string[], right: readonly string[], column: number): string {
  return nearChanges(aligned(left, right))
    .flatMap((row) => {
      if (row === undefined) return ['...'];
      const [before, after] = row;
      const mark = before === after ? '   ' : before === undefined ? ' > ' : after === undefined ? ' < ' : GAP;
      const [was, is] = [folded(before ?? '', column), folded(after ?? '', column)];
      return Array.from({ length: Math.max(was.length, is.length) }, (_, index) =>
        `${(was[index] ?? '').padEnd(column)}${mark}${is[index] ?? ''}`.trimEnd(),
      );
    })
    .map((line) => `${line}\n`)
    .join('');
}

function folded(line: string, column: number): readonly string[] {
  const shown = visible(line);
  if (shown.length <= column) return [shown];
  return Array.from({ length: Math.ceil(shown.length / column) }, (_, index) =>
    shown.slice(index * column, (index + 1) * column),
  );
}

/** Keeps the rows near a difference. Each omitted range is replaced by one `undefined`. */
function nearChanges(all: readonly DiffRow[]): readonly (DiffRow | undefined)[] {
  const near = new Set(
    all.flatMap(([before, after], index) =>
      before === after ? [] : Array.from({ length: 2 * CONTEXT + 1 }, (_, offset) => index - CONTEXT + offset),
    ),
  );
  const isLeftOut = (index: number) => index >= 0 && index < all.length && !near.has(index);
  return all.flatMap((row, index) => {
    if (!isLeftOut(index)) return [row];
    return isLeftOut(index - 1) ? [] : [undefined];
  });
}

type DiffRow = readonly [before: string | undefined, after: string | undefined];

/** Returns rows. Equal lines share a row, and the lines between them are paired in order. */
function aligned(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  const found: DiffRow[] = [];
  let [at, to] = [0, 0];
  for (const [before, after] of commonLines(left, right)) {
    found.push(...pairs(left.slice(at, before), right.slice(to, after)), [left[before], right[after]]);
    [at, to] = [before + 1, after + 1];
  }
  return [...found, ...pairs(left.slice(at), right.slice(to))];
}

function pairs(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  return Array.from(
    { length: Math.max(left.length, right.length) },
    (_, index) => [left[index], right[index]] as const,
  );
}

/**
 * Returns pairs of indexes of equal lines: a longest common subsequence. For very long texts, returns only the equal
 * lines at the start.
 */
function commonLines(left: readonly string[], right: readonly string[]): readonly (readonly [number, number])[] {
  const start = left.findIndex((line, index) => line !== right[index]);
  const same = start < 0 ? left.length : start;
  const head = Array.from({ length: Math.min(same, right.length) }, (_, index) => [index, index] as const);
  const [a, b] = [left.slice(head.length), right.slice(head.length)];
  if (a.length * b.length > CELLS_MAX) return head;
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i];
    if (row === undefined) continue;
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const common: (readonly [number, number])[] = [...head];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      common.push([head.length + i, head.length + j]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return common;
}

const CELLS_MAX = 4_000_000;
