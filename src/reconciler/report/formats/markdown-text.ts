// How text of anybody stands in a Markdown comment: as text. And how a comment is cut where it is longer than GitHub takes.

import type { ReportContext } from '../context.ts';
import { visible } from '../visible.ts';

/** GitHub takes 65,536 characters; what others count as one, it may not. */
const BYTES_MAX = 65_000;

export interface Section {
  /** Left out where there are no items; the first line or lines otherwise. */
  readonly title: string;
  /** Each is shown whole, or not at all. */
  readonly items: readonly string[];
}

/**
 * Returns the first line of a comment, by which the comment is found again: `<!-- skep validate -->`. `paths`: folders that
 * the report is about, so that two jobs with different folders have two comments.
 */
function markerOf(report: string, paths: readonly string[]): string {
  // Neither ">" nor "--" may stand inside a comment of HTML, and a space separates the folders.
  const names = paths.map((path) => encodeURI((path || '.').toWellFormed()).replaceAll('--', '-%2D'));
  return `<!-- ${['skep', report, ...names.sort()].join(' ')} -->`;
}

/** With the marker, and with as many items as fit. Ends in a line break. */
export function comment(
  report: string,
  head: string,
  sections: readonly Section[],
  { fullReport }: Pick<ReportContext, 'fullReport'>,
  paths: readonly string[] = [],
): string {
  const marker = markerOf(report, paths);
  const filled = sections.filter(({ items }) => items.length > 0);
  const total = filled.reduce((count, { items }) => count + items.length, 0);
  const room = BYTES_MAX - 500 - Buffer.byteLength(marker + head);
  const { text, shown } = fitting(filled, room);
  const all = fullReport === undefined ? 'the full report lists them' : `[the report in full](${fullReport})`;
  const rest = shown === total ? '' : `\n\n${total - shown} more are left out here: ${all}.`;
  return `${marker}\n${head}${text}${rest}\n`;
}

function fitting(sections: readonly Section[], room: number): { readonly text: string; readonly shown: number } {
  let text = '';
  let size = 0;
  let shown = 0;
  for (const { title, items } of sections) {
    const opening = title === '' ? '\n' : `\n\n${title}`;
    let isOpen = false;
    for (const item of items) {
      const more = `${isOpen ? '' : opening}\n${item}`;
      size += Buffer.byteLength(more);
      if (size > room) return { text, shown };
      text += more;
      isOpen = true;
      shown += 1;
    }
  }
  return { text, shown };
}

/** A span of code; no one is mentioned in it, nothing is linked. In a table two backslashes would let a bar end its cell. */
export function code(text: string): string {
  const plain = visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/\\(?=\|)/g, '\\ ')
    .replaceAll('|', '\\|');
  const fence = '`'.repeat(longestRun(plain) + 1);
  return fence.length === 1 ? `\`${plain}\`` : `${fence} ${plain} ${fence}`;
}

/** One line of text that means nothing but itself, also inside a table. */
export function inline(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/[\\`*_[\]<>|~#!]/g, '\\$&')
    .replaceAll('@', '&#64;');
}

/** A block of code, indented as what belongs to an item of a list; what is not ends it, also after a carriage return. */
export function fenced(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split(/\r\n?|\n/)).map(visible);
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}diff`, ...lines, fence].map((line) => `  ${line}`).join('\n');
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
