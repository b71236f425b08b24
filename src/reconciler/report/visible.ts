// Escapes text from other authors before it reaches a terminal.

import { unicodeEscape } from '#std/json.ts';

/** Returns complete lines, in which hidden characters are visible. */
export function visibleLines(all: readonly string[]): string {
  return all.map((line) => `${visible(line)}\n`).join('');
}

/**
 * Escapes control sequences of a terminal, which values of manifests may contain, so that readers see the sequences and
 * the whole plan.
 */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, unicodeEscape);
}

/** Control characters except for tabs and line breaks, and characters that turn the direction of text. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
