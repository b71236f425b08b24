// Escapes text of others before it reaches a terminal.

import { unicodeEscape } from '#std/json.ts';

/** Returns complete lines, in which hidden characters are visible. */
export function visibleLines(all: readonly string[]): string {
  return all.map((line) => `${visible(line)}\n`).join('');
}

/**
 * Values of manifests may contain control sequences of a terminal: a reader of a plan must see them, and everything
 * else of the plan too.
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, unicodeEscape);
}

/** Control characters except for tabs and line breaks, and characters that turn the direction of text. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
