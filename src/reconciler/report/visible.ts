// Text of others on the way to a terminal.

import { unicodeEscape } from '#std/json.ts';

/** Lines that end, with everything in them to be seen. */
export function visibleLines(all: readonly string[]): string {
  return all.map((line) => `${visible(line)}\n`).join('');
}

/** Values of manifests may hold what a terminal obeys: whoever reads a plan sees it, and everything else of the plan too. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, unicodeEscape);
}

/** Control characters but for tabs and line breaks, and those that turn the direction of text. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
