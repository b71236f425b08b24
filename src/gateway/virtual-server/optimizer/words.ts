// Extracts the search terms of a query and the searchable text of a tool.

import { isObject } from '#std/json.ts';
import { readValue } from '../../wire/scan.ts';
import type { SearchedText } from './ports.ts';

const WORD = /[\p{L}\p{N}]+/gu;
/** Maximum number of terms: the beginning of a long description is enough. */
const TERMS_MAX = 64;

/** Returns the search terms: each whole keyword, each word of a keyword, and each word of the description once. */
export function searchTerms(description: string, keywords: readonly string[]): readonly string[] {
  const words = new Set(wordsIn(description));
  const named = keywords.map((keyword) => wordsIn(keyword)).filter((each) => each.length > 0);
  const all = [...named.map((each) => each.join(' ')), ...named.flat(), ...words];
  return all.slice(0, TERMS_MAX);
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Returns the searchable text of a tool. `definition` is the tool as in `tools/list`. */
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

/** Splits `searchPages` into `search Pages`. `wordsIn` itself splits `search_pages`. */
function splitCamelCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
}

export function meaningText(name: string, { description }: SearchedText): string {
  return `name: ${name} description: ${description}`;
}
