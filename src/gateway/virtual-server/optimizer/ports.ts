// Defines the ports of the search for tools: an index of words, and requests to the embedding service.

import type { Fetch } from '#auth/ports.ts';

/** Text that is found by its words. */
export interface SearchedText {
  readonly name: string;
  readonly description: string;
}

export interface WordIndex {
  /**
   * Returns positions of the texts that have one of the terms, the best first. A term is one word or several in a row,
   * only of letters and digits; a repeated one counts twice.
   */
  search(terms: readonly string[], limit: number): readonly number[];
}

export type OpenWordIndex = (texts: readonly SearchedText[]) => WordIndex;

export interface MeaningPorts {
  readonly fetch: Fetch;
  /** Key for a service with the API of OpenAI. Absent if the service needs none. */
  readonly apiKey?: string;
  readonly clock: { monotonic(): number };
  /** Called when the embedding service fails, or fails again after it has answered. */
  readonly failed: (message: string) => void;
}
