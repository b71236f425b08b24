// Escapes text from other authors for a Markdown comment, and shortens a comment that is too long for GitHub.

import type { ReportContext } from '../context.ts';
import { visible } from '../visible.ts';

/** Maximum bytes of a comment. GitHub accepts 65,536 characters, and may count some characters more than once. */
const BYTES_MAX = 65_000;

export interface Section {
  /** Heading of the section. Omitted if the section has no items. */
  readonly title: string;
  /** Items. An item is shown completely or omitted. */
  readonly items: readonly string[];
}

/**
 * Returns the first line of a comment, such as `<!-- skep validate -->`. Later runs find the comment by this line.
 * `paths` are the folders of the report: jobs with different folders have different comments.
 */
function markerOf(report: string, paths: readonly string[]): string {
  // An HTML comment must not contain ">" and "--". A space separates the folders.
  const names = paths.map((path) => encodeURI((path || '.').toWellFormed()).replaceAll('--', '-%2D'));
  return `<!-- ${['skep', report, ...names.sort()].join(' ')} -->`;
}

/** Returns a comment with as many items as possible. */
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
 * Returns a code span, so that mentions and links in the text have no effect. A backslash before a bar gets a space,
 * because two backslashes would end the cell of a table at the bar.
 */
export function code(text: string): string {
  const plain = visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/\\(?=\|)/g, '\\ ')
    .replaceAll('|', '\\|');
  const fence = '`'.repeat(longestRun(plain) + 1);
  return fence.length === 1 ? `\`${plain}\`` : `${fence} ${plain} ${fence}`;
}

/** Returns one line of literal text, which can also be used in a table. */
export function inline(text: string): string {
  return visible(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/[\\`*_[\]<>|~#!]/g, '\\$&')
    .replaceAll('@', '&#64;');
}

/**
 * Returns a code block for a list item. Indents every line, also after a carriage return: a line without indentation
 * would end the block.
 */
export function fenced(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split(/\r\n?|\n/)).map(visible);
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}diff`, ...lines, fence].map((line) => `  ${line}`).join('\n');
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
