// Escapes text from other authors for a terminal.

import { unicodeEscape } from '#std/json.ts';

/** Returns the lines as one text with line breaks, and escapes hidden characters in the lines. */
export function visibleLines(all: readonly string[]): string {
  return all.map((line) => `${visible(line)}\n`).join('');
}

/**
 * Escapes control sequences. Values in manifests may contain such sequences, which could hide parts of a plan on a
 * terminal.
 */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, unicodeEscape);
}

/** Control characters except tabs and line breaks, and characters that change the direction of text. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
