// Defines the store in which all replicas together count calls.

export interface TokenBucket {
  readonly maxTokens: number;
  /** Time in milliseconds in which an empty bucket becomes full. */
  readonly refillMs: number;
}

/** Bucket in the store. Equal keys name the same bucket. */
export interface KeyedBucket extends TokenBucket {
  readonly key: string;
}

/** Result: either one token was taken from every bucket, or no bucket changed. */
export type Taken =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Index of the first bucket without a token. */
      readonly empty: number;
      /** Time in milliseconds until every bucket has a token. */
      readonly waitMs: number;
    };

/** Takes one token from every bucket. Takes no token if any bucket is empty. Rejects if the store is unavailable. */
export type TokenStore = (buckets: readonly KeyedBucket[]) => Promise<Taken>;
