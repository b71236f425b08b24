// What the search for tools needs of the world: an index of words, and requests to the embedding service.

import type { Fetch } from '#auth/ports.ts';

/** What is found by its words. */
export interface SearchedText {
  readonly name: string;
  readonly description: string;
}

export interface WordIndex {
  /**
   * Positions of the texts that have one of the terms, the best first. A term is one word or several in a row, of letters
   * and digits alone; one that is there twice counts twice.
   */
  search(terms: readonly string[], limit: number): readonly number[];
}

export type OpenWordIndex = (texts: readonly SearchedText[]) => WordIndex;

export interface MeaningPorts {
  readonly fetch: Fetch;
  /** For a service that speaks as OpenAI does. Absent: the service asks for none. */
  readonly apiKey?: string;
  readonly clock: { monotonic(): number };
  /** The embedding service fails, or does again after it has answered. */
  readonly failed: (message: string) => void;
}
