// The public keys of one provider: fetched when needed, remembered, refreshed, and kept for a while when the provider is
// down. Knows nothing about tokens and claims.

import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import { afterFailure, NO_BACKOFF } from './backoff.ts';
import { locateJwks } from './discovery.ts';
import { causeOf, getJson, invalidAnswer } from './outbound.ts';
import type { AuthPorts } from './ports.ts';
import type { Cause } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';

/** Keys younger than this are used without asking again. */
const KEYS_FRESH_MS = 10 * 60_000;
/** Keys older than this are never used, even while the provider is down. */
const KEYS_KEPT_MS = 60 * 60_000;
/** An unknown key id makes the keys be fetched again, but not more often than this: anyone can invent key ids. */
const UNKNOWN_KEY_COOLDOWN_MS = 30_000;

export type KeyResult =
  | { readonly found: 'key'; readonly key: CryptoKey }
  | { readonly found: 'none' }
  | { readonly found: 'unusable'; readonly detail: string }
  | { readonly found: 'unavailable'; readonly cause: Cause };

/** Finds the key that a JWT's header names. */
export type KeyLookup = (header: JWSHeaderParameters) => Promise<KeyResult>;

type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Fetches nothing yet. The lookup never rejects because of the provider: what fails is a result. */
export function createKeyLookup(ports: AuthPorts, provider: ProviderSettings): KeyLookup {
  const keys = createRefreshedKeys(ports, provider);
  return async function findKey(header) {
    const current = await keys.current();
    if ('cause' in current) return { found: 'unavailable', cause: current.cause };
    const first = await select(current.keySet, header);
    if (first.found !== 'none') return first;
    const renewed = await keys.renewed(UNKNOWN_KEY_COOLDOWN_MS);
    return renewed === undefined ? first : select(renewed, header);
  };
}

async function select(keySet: KeySet, header: JWSHeaderParameters): Promise<KeyResult> {
  try {
    return { found: 'key', key: await keySet(header) };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return { found: 'none' };
    if (error instanceof errors.JWKSMultipleMatchingKeys) return { found: 'unusable', detail: 'several keys fit' };
    // A key that cannot be imported is the provider's mistake: one refused token, not a crash.
    return { found: 'unusable', detail: error instanceof Error ? error.message : String(error) };
  }
}

interface RefreshedKeys {
  /** The keys to use now; asks the provider where they are missing or no longer fresh. */
  current(): Promise<{ readonly keySet: KeySet } | { readonly cause: Cause }>;
  /** The keys after asking again; undefined where it was asked less than `cooldownMs` ago, or in vain. */
  renewed(cooldownMs: number): Promise<KeySet | undefined>;
}

function createRefreshedKeys(ports: AuthPorts, provider: ProviderSettings): RefreshedKeys {
  let loaded: { readonly keySet: KeySet; readonly at: number } | undefined;
  let failed: Cause | undefined;
  let backoff = NO_BACKOFF;
  let askedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;

  /** Never rejects; everyone who comes while a request is under way waits for the same one. */
  function ask(): Promise<void> {
    pending ??= load().finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function load(): Promise<void> {
    askedAt = ports.clock.monotonic();
    try {
      const keySet = await fetchKeys(ports, provider);
      loaded = { keySet, at: ports.clock.monotonic() };
      failed = undefined;
      backoff = NO_BACKOFF;
    } catch (error) {
      failed = causeOf(error);
      backoff = afterFailure(backoff, ports.clock.monotonic());
      reportFailure(ports, provider, failed, usable() !== undefined);
    }
  }

  function usable(maxAgeMs = KEYS_KEPT_MS): KeySet | undefined {
    return loaded !== undefined && ports.clock.monotonic() - loaded.at < maxAgeMs ? loaded.keySet : undefined;
  }

  return {
    async current() {
      const fresh = usable(KEYS_FRESH_MS);
      if (fresh !== undefined) return { keySet: fresh };
      // While backing off nobody waits for a provider that is down.
      if (pending !== undefined || ports.clock.monotonic() >= backoff.retryAt) await ask();
      const keySet = usable();
      if (keySet !== undefined) return { keySet };
      return { cause: failed ?? { code: 'keys-unavailable', message: `no keys of ${provider.name}` } };
    },
    async renewed(cooldownMs) {
      if (pending === undefined && ports.clock.monotonic() - askedAt < cooldownMs) return undefined;
      await ask();
      return failed === undefined ? usable() : undefined;
    },
  };
}

function reportFailure(ports: AuthPorts, provider: ProviderSettings, cause: Cause, remembered: boolean): void {
  const code = remembered ? 'keys-stale' : 'keys-unavailable';
  ports.notify({ code, provider: provider.name, message: cause.message, data: { cause: cause.code } });
}

/** Throws a Failure. */
async function fetchKeys(ports: AuthPorts, provider: ProviderSettings): Promise<KeySet> {
  const url = await locateJwks(ports, provider);
  const document = await getJson(ports, provider, url);
  if (!isKeySet(document)) throw invalidAnswer(url, 'did not answer with a JSON Web Key Set');
  return createLocalJWKSet(document);
}

function isKeySet(document: object): document is JSONWebKeySet {
  return (
    'keys' in document &&
    Array.isArray(document.keys) &&
    document.keys.every((key) => typeof key === 'object' && key !== null && !Array.isArray(key))
  );
}
