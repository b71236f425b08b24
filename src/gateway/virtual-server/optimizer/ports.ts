// Defines the ports of the tool search: a word index, and requests to the embedding service.

import type { Fetch } from '#auth/ports.ts';

/** A text that the word index finds. */
export interface SearchedText {
  readonly name: string;
  readonly description: string;
}

export interface WordIndex {
  /**
   * Returns positions of the texts that contain one of the terms, from the best match. A term is one word or several
   * successive words of letters and digits. A repeated term counts twice.
   */
  search(terms: readonly string[], limit: number): readonly number[];
}

export type OpenWordIndex = (texts: readonly SearchedText[]) => WordIndex;

export interface MeaningPorts {
  readonly fetch: Fetch;
  /** API key for OpenAI's API. Absent if the service needs no key. */
  readonly apiKey?: string;
  readonly clock: { monotonic(): number };
  /** Reports a failure of the embedding service that differs from the previous failure. */
  readonly failed: (message: string) => void;
}
