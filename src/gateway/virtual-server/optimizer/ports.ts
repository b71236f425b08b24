// Defines the ports of the search for tools: an index of words, and requests to the embedding service.

import type { Fetch } from '#auth/ports.ts';

/** A text that is found by its words. */
export interface SearchedText {
  readonly name: string;
  readonly description: string;
}

export interface WordIndex {
  /**
   * Returns positions of the texts that have one of the terms, ordered from the best match. A term consists of one word
   * or several successive words of letters and digits. A repeated term counts twice.
   */
  search(terms: readonly string[], limit: number): readonly number[];
}

export type OpenWordIndex = (texts: readonly SearchedText[]) => WordIndex;

export interface MeaningPorts {
  readonly fetch: Fetch;
  /** Key for a service with the API of OpenAI. Absent if the service needs no key. */
  readonly apiKey?: string;
  readonly clock: { monotonic(): number };
  /** Reports the first failure of the embedding service, and the first failure after each success. */
  readonly failed: (message: string) => void;
}
