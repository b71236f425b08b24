// Splits searches into words, and finds texts that have every word somewhere, in any case of letters.

import { type Grams, gramsOf, mayContain, probesOf } from './grams.ts';

/** The text in which a search is done. */
export interface Searched {
  readonly text: string;
  readonly grams: Grams;
}

export interface Word {
  readonly text: string;
  readonly probes: readonly number[];
}

/**
 * Joins the parts with a separator that people do not type. Returns `last` if it has the same text, because versions of
 * a server often have, and then share the object.
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

/** Returns lower case by Unicode. Lower case in the database depends on its locale. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
