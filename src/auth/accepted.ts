// Remembers recently verified tokens by digest, so that their signatures need not be verified for each request.

import { setBounded } from '#std/bounded.ts';
import { sha256 } from '#std/hash.ts';
import type { Identity } from './identity.ts';

const KEPT_MAX = 10_000;

export interface Accepted {
  readonly identity: Identity;
  /** `exp` of the token, in seconds since 1970. */
  readonly expiry: number;
  /** Returns true while the provider still has the key that verified the token. */
  readonly holds: () => boolean;
}

export interface AcceptedTokens {
  /** `nowMs` is in milliseconds since 1970. */
  get(token: string, nowMs: number): Accepted | undefined;
  set(token: string, accepted: Accepted): void;
}

/** Returns whether an accepted token is still valid. `nowMs` is in milliseconds since 1970. */
export function isAccepted({ expiry, holds }: Accepted, nowMs: number): boolean {
  return expiry * 1000 > nowMs && holds();
}

/** Stores digests instead of tokens. Beyond the limit, drops the oldest digests. */
export function createAcceptedTokens(): AcceptedTokens {
  const kept = new Map<string, Accepted>();
  return {
    get(token, nowMs) {
      const key = sha256(token);
      const found = kept.get(key);
      if (found === undefined) return undefined;
      if (isAccepted(found, nowMs)) return found;
      kept.delete(key);
      return undefined;
    },
    set(token, accepted) {
      setBounded(kept, sha256(token), accepted, KEPT_MAX);
    },
  };
}
