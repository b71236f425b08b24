// Splits searches into words, and finds texts that contain every word, ignoring case.

import { type Grams, gramsOf, mayContain, probesOf } from './grams.ts';

/** A searchable text with its filter. */
export interface Searched {
  readonly text: string;
  readonly grams: Grams;
}

export interface Word {
  readonly text: string;
  readonly probes: readonly number[];
}

/**
 * Joins the parts with a separator that users do not type. Returns `last` if its text is equal, so that versions of a
 * server share one object.
 */
export function searchedOf(parts: readonly string[], last?: Searched): Searched {
  const text = foldCase(parts.join('\u001f'));
  return last?.text === text ? last : { text, grams: gramsOf(text) };
}

export function wordsOf({ search = '' }: { readonly search?: string }): readonly Word[] {
  return foldCase(search)
    .split(/\s+/)
    .filter((text) => text !== '')
    .map((text) => ({ text, probes: probesOf(text) }));
}

export function hasWords(searched: Searched, words: readonly Word[]): boolean {
  for (const { text, probes } of words) {
    if (!mayContain(searched.grams, probes) || !searched.text.includes(text)) return false;
  }
  return true;
}

/** Converts to lower case by Unicode. The database's conversion would depend on its locale. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
