// Escapes text from other authors in a Markdown comment, and cuts a comment that is longer than GitHub accepts.

import type { ReportContext } from '../context.ts';
import { visible } from '../visible.ts';

/** GitHub accepts 65,536 characters, and may count one character as several. */
const BYTES_MAX = 65_000;

export interface Section {
  /** The first line or lines; left out if there are no items. */
  readonly title: string;
  /** Items; each is shown whole, or not at all. */
  readonly items: readonly string[];
}

/**
 * Returns the first line of a comment, which identifies the comment later: `<!-- skep validate -->`. `paths` are the
 * folders of the report, so that two jobs with different folders have two comments.
 */
function markerOf(report: string, paths: readonly string[]): string {
  // Neither ">" nor "--" may occur inside an HTML comment, and a space separates the folders.
  const names = paths.map((path) => encodeURI((path || '.').toWellFormed()).replaceAll('--', '-%2D'));
  return `<!-- ${['skep', report, ...names.sort()].join(' ')} -->`;
}

/** Returns a comment with the marker and as many items as fit. The comment ends with a line break. */
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

/**
 * Returns a code span, in which no text is a mention or a link. In a table, two backslashes would let a bar end the
 * cell.
 */
export function code(text: string): string {
  const plain = visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/\\(?=\|)/g, '\\ ')
    .replaceAll('|', '\\|');
  const fence = '`'.repeat(longestRun(plain) + 1);
  return fence.length === 1 ? `\`${plain}\`` : `${fence} ${plain} ${fence}`;
}

/** Returns one line of literal text, also inside a table. */
export function inline(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/[\\`*_[\]<>|~#!]/g, '\\$&')
    .replaceAll('@', '&#64;');
}

/**
 * Returns a code block, indented like the content of a list item. A line without the indent would end the block, also
 * after a carriage return.
 */
export function fenced(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split(/\r\n?|\n/)).map(visible);
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}diff`, ...lines, fence].map((line) => `  ${line}`).join('\n');
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
