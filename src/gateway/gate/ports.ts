// Defines the store in which all replicas count calls.

export interface TokenBucket {
  readonly maxTokens: number;
  /** Time in which an empty bucket becomes full. */
  readonly refillMs: number;
}

/** Bucket of a store. Equal keys are one bucket. */
export interface KeyedBucket extends TokenBucket {
  readonly key: string;
}

/** The result: a token from every bucket, or no token from any bucket. */
export type Taken =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Position of the first bucket that has no token. */
      readonly empty: number;
      /** Time until every bucket has a token. */
      readonly waitMs: number;
    };

/** Takes a token from every bucket, or from none if one bucket is empty. Rejects if the store is unavailable. */
export type TokenStore = (buckets: readonly KeyedBucket[]) => Promise<Taken>;
