// Builds the search index of a tool list, once for all callers with an equal list.

import { setBounded } from '#std/bounded.ts';
import type { Era } from '../../backends/backend.ts';
import type { ListedItem } from '../catalogue/pages.ts';
import type { OpenWordIndex, WordIndex } from './ports.ts';
import { meaningText, searchedText } from './words.ts';

/** Tools that clients would list without the optimizer. */
export interface SearchedList {
  readonly items: readonly ListedItem[];
  /** Equal for equal lists. */
  readonly digest: string;
}

export interface ToolIndex {
  readonly items: readonly ListedItem[];
  readonly words: WordIndex;
  /** Text about each tool for the embedding service. */
  readonly meanings: readonly string[];
  /** Approximate number of tokens of all tools. */
  readonly tokens: Readonly<Record<Era, number>>;
}

/** Maximum number of indexes. Callers with their own credentials may have different lists. */
const INDEXES_MAX = 50;

export function createToolIndexes(openWords: OpenWordIndex): (list: SearchedList) => ToolIndex {
  const made = new Map<string, ToolIndex>();
  return (list) => {
    const index = made.get(list.digest) ?? indexTools(list, openWords);
    setBounded(made, list.digest, index, INDEXES_MAX);
    return index;
  };
}

function indexTools({ items }: SearchedList, openWords: OpenWordIndex): ToolIndex {
  const texts = items.map(({ key, stateless }) => searchedText(key, stateless));
  const meanings = texts.map((text, index) => meaningText(items[index]?.key ?? '', text));
  const tokens = {
    session: tokensOf(items.flatMap(({ session }) => session ?? [])),
    stateless: tokensOf(items.map(({ stateless }) => stateless)),
  };
  return { items, words: openWords(texts), meanings, tokens };
}

const BYTES_PER_TOKEN = 4;

/** Estimates the number of tokens that a model counts. */
export function tokensOf(tools: readonly Buffer[]): number {
  return Math.floor(tools.reduce((sum, { length }) => sum + length, 0) / BYTES_PER_TOKEN);
}
