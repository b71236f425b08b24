// Fetches and refreshes the public keys of a provider. If the provider is down, older keys stay in use for a limited
// time.

import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import * as errors from 'jose/errors';
import { createLocalJWKSet } from 'jose/jwks/local';
import { digest } from '#std/hash.ts';
import { afterFailure, NO_BACKOFF } from './backoff.ts';
import { discoverApiServer, locateJwks } from './discovery.ts';
import { causeOf, getJson, invalidAnswer } from './outbound.ts';
import type { AuthPorts } from './ports.ts';
import type { Cause } from './rejection.ts';
import type { ProviderSettings } from './settings.ts';

/** Keys younger than this are used without a request. */
const KEYS_FRESH_MS = 10 * 60_000;
/** Keys older than this are never used, even while the provider is down. */
const KEYS_KEPT_MS = 60 * 60_000;
/** Minimum time between requests because of unknown key ids: anyone can invent key ids. */
const UNKNOWN_KEY_COOLDOWN_MS = 30_000;

export type KeyResult =
  | { readonly found: 'key'; readonly key: CryptoKey }
  | { readonly found: 'none' }
  | { readonly found: 'unusable'; readonly detail: string }
  | { readonly found: 'unavailable'; readonly cause: Cause };

/** Finds the key that a JWT header names. */
export type KeyLookup = (header: JWSHeaderParameters) => Promise<KeyResult>;

export interface ProviderKeys {
  /** Does not reject if the provider fails: the result then contains the cause. */
  readonly find: KeyLookup;
  /**
   * Returns the same object while the provider's keys are unchanged, so that earlier verifications stay valid. Returns
   * undefined if the keys must be fetched again.
   */
  edition(): object | undefined;
  /**
   * Returns whether tokens of the provider have this issuer. Returns undefined if the provider is unreachable and the
   * caller has to try again.
   */
  issues(issuer: string): Promise<boolean | undefined>;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Creates the key lookup without a request. */
export function createProviderKeys(ports: AuthPorts, provider: ProviderSettings): ProviderKeys {
  if (provider.ownKeys !== undefined) return keysInProcess(provider.issuerUrl, provider.ownKeys);
  const keys = createRefreshedKeys(ports, provider);
  async function find(header: JWSHeaderParameters): Promise<KeyResult> {
    const current = await keys.current();
    if ('cause' in current) return { found: 'unavailable', cause: current.cause };
    let searched = current.keySet;
    for (;;) {
      const result = await select(searched, header);
      if (result.found !== 'none') return result;
      const newer = await keys.newer(searched);
      if (newer === undefined) return result;
      if ('cause' in newer) return { found: 'unavailable', cause: newer.cause };
      searched = newer.keySet;
    }
  }
  async function issues(issuer: string): Promise<boolean | undefined> {
    if (issuer === provider.issuerUrl) return true;
    if (provider.isApiServer !== true) return false;
    const current = await keys.current();
    return 'cause' in current ? undefined : current.issuer === issuer;
  }
  return { find, edition: keys.fresh, issues };
}

function keysInProcess(issuerUrl: string, current: () => JSONWebKeySet): ProviderKeys {
  let known: { readonly document: JSONWebKeySet; readonly keySet: KeySet } | undefined;
  function edition(): KeySet {
    const document = current();
    if (known?.document !== document) known = { document, keySet: createLocalJWKSet(document) };
    return known.keySet;
  }
  return { find: (header) => select(edition(), header), edition, issues: async (issuer) => issuer === issuerUrl };
}

async function select(keySet: KeySet, header: JWSHeaderParameters): Promise<KeyResult> {
  try {
    return { found: 'key', key: await keySet(header) };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return { found: 'none' };
    if (error instanceof errors.JWKSMultipleMatchingKeys) return { found: 'unusable', detail: 'several keys fit' };
    // A key that cannot be imported is a fault of the provider. Only tokens that name the key are refused.
    return { found: 'unusable', detail: error instanceof Error ? error.message : String(error) };
  }
}

interface KnownKeys {
  readonly keySet: KeySet;
  /** Issuer that the API server names. undefined means the issuer in the settings. */
  readonly issuer: string | undefined;
}

interface RefreshedKeys {
  /** Returns the current keys. Fetches keys that are missing or not fresh. */
  current(): Promise<KnownKeys | { readonly cause: Cause }>;
  /**
   * Returns keys that differ from `than`, after a request if the cooldown permits it. Returns undefined if the
   * provider's keys are unchanged, or the cause if the provider is unreachable.
   */
  newer(than: KeySet): Promise<KnownKeys | { readonly cause: Cause } | undefined>;
  /** Returns keys that need no request. Returns the same object while the provider's keys are unchanged. */
  fresh(): KeySet | undefined;
}

function createRefreshedKeys(ports: AuthPorts, provider: ProviderSettings): RefreshedKeys {
  let loaded: (LoadedKeys & { readonly at: number }) | undefined;
  let failed: Cause | undefined;
  let backoff = NO_BACKOFF;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;

  /** Fetches the keys. Never rejects because of the provider. Concurrent calls share one request. */
  function ask(): Promise<void> {
    pending ??= load().finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function load(): Promise<void> {
    try {
      const fetched = await fetchKeys(ports, provider);
      const same = loaded !== undefined && loaded.digest === fetched.digest ? loaded : fetched;
      loaded = { ...same, at: ports.clock.monotonic() };
      failed = undefined;
      backoff = NO_BACKOFF;
    } catch (error) {
      failed = causeOf(error);
      backoff = afterFailure(backoff, ports.clock.monotonic());
      reportFailure(ports, provider, failed, usable() !== undefined);
    }
  }

  function usable(maxAgeMs = KEYS_KEPT_MS): KnownKeys | undefined {
    return loaded !== undefined && ports.clock.monotonic() - loaded.at < maxAgeMs ? loaded : undefined;
  }

  function mayRenew(): boolean {
    const now = ports.clock.monotonic();
    return failed === undefined ? now - renewedAt >= UNKNOWN_KEY_COOLDOWN_MS : now >= backoff.retryAt;
  }

  function fresh(): KeySet | undefined {
    return usable(KEYS_FRESH_MS)?.keySet;
  }

  return {
    fresh,
    async current() {
      const known = usable(KEYS_FRESH_MS);
      if (known !== undefined) return known;
      // During a pause, continues with old keys instead of waiting for the provider.
      if (pending !== undefined || ports.clock.monotonic() >= backoff.retryAt) await ask();
      const kept = usable();
      if (kept !== undefined) return kept;
      return { cause: failed ?? { code: 'keys-unavailable', message: `no keys of ${provider.name}` } };
    },
    async newer(than) {
      // The request in progress may be older than the key. Its result is used, but does not start the cooldown.
      if (pending !== undefined) await pending;
      if (usable()?.keySet === than) {
        if (!mayRenew()) return failed && { cause: failed };
        renewedAt = ports.clock.monotonic();
        await ask();
      }
      const latest = usable();
      if (latest !== undefined && latest.keySet !== than) return latest;
      // The unknown key may be a new key of the unreachable provider.
      return failed && { cause: failed };
    },
  };
}

function reportFailure(ports: AuthPorts, provider: ProviderSettings, cause: Cause, remembered: boolean): void {
  const code = remembered ? 'keys-stale' : 'keys-unavailable';
  ports.notify({ code, provider: provider.name, message: cause.message, data: { cause: cause.code } });
}

interface LoadedKeys extends KnownKeys {
  /** Digest of the issuer and the key set. */
  readonly digest: string;
}

/** Fetches the keys. Throws a Failure. */
async function fetchKeys(ports: AuthPorts, provider: ProviderSettings): Promise<LoadedKeys> {
  const { jwksUrl, issuer } =
    provider.isApiServer === true
      ? await discoverApiServer(ports, provider)
      : { jwksUrl: await locateJwks(ports, provider), issuer: undefined };
  const document = await getJson(ports, provider, jwksUrl);
  if (!isKeySet(document)) throw invalidAnswer(jwksUrl, 'did not answer with a JSON Web Key Set');
  return { keySet: createLocalJWKSet(document), issuer, digest: digest({ issuer: issuer ?? null, document }) };
}

function isKeySet(document: object): document is JSONWebKeySet {
  return (
    'keys' in document &&
    Array.isArray(document.keys) &&
    document.keys.every((key) => typeof key === 'object' && key !== null && !Array.isArray(key))
  );
}
