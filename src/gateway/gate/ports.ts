// The store in which all replicas count calls.

export interface TokenBucket {
  readonly maxTokens: number;
  /** From empty to full. */
  readonly refillMs: number;
}

/** A bucket of a store. Equal keys are one bucket. */
export interface KeyedBucket extends TokenBucket {
  readonly key: string;
}

/** Either every bucket gave a token, or none did. */
export type Taken =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Position of the first bucket that has no token. */
      readonly empty: number;
      /** Until every bucket has one. */
      readonly waitMs: number;
    };

/** Takes a token from each bucket at once, or from none. Rejects if the store cannot be asked. */
export type TokenStore = (buckets: readonly KeyedBucket[]) => Promise<Taken>;
