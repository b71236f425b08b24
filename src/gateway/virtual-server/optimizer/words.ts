// The words that a search looks for, and those that a tool is found by. Pure.

import { isObject } from '#std/json.ts';
import { readValue } from '../../wire/scan.ts';
import type { SearchedText } from './ports.ts';

const WORD = /[\p{L}\p{N}]+/gu;
/** A description is a sentence; of a whole document the beginning is enough. */
const TERMS_MAX = 64;

/** The words of the description each once, those of each keyword once more and together: whoever names them means them. */
export function searchTerms(description: string, keywords: readonly string[]): readonly string[] {
  const words = new Set(wordsIn(description));
  const named = keywords.map((keyword) => wordsIn(keyword)).filter((each) => each.length > 0);
  const all = [...named.map((each) => each.join(' ')), ...named.flat(), ...words];
  return all.slice(0, TERMS_MAX);
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** `definition`: a tool as `tools/list` shows it. */
export function searchedText(name: string, definition: Buffer): SearchedText {
  const value = readValue(definition, { start: 0, end: definition.length });
  const { title, description } = isObject(value) ? value : {};
  return {
    name: [name, splitCamelCase(name), textIn(title)]
      .filter((each, index, all) => all.indexOf(each) === index)
      .join(' '),
    description: textIn(description),
  };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `searchPages` has two words; what is between the words of `search_pages` is none. */
function splitCamelCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
}

/** What the embedding service is asked about. */
export function meaningText(name: string, { description }: SearchedText): string {
  return `name: ${name} description: ${description}`;
}
