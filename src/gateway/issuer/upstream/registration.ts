// Registers this server as a client at a provider (RFC 7591), once for all replicas. The replicas share the answer in
// the store.

import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import type { IssuerSecrets } from '../keys/secrets.ts';
import type { IssuerPorts } from '../ports.ts';
import { KEYS, REGISTRATION_MS } from '../records.ts';
import {
  EXPIRY_SKEW_MS,
  type OwnRegistration,
  type RegisteredClient,
  requestRegistration,
} from './registration-request.ts';

export interface UpstreamRegistration {
  /**
   * Returns the client. Registers the client if no replica has done so. After a Failure of the provider, later calls
   * fail for some time without a new attempt.
   */
  find(): Promise<RegisteredClient>;
  /** Deletes the registration of a client that the provider no longer knows. The next login registers again. */
  forget(client: RegisteredClient): Promise<void>;
}

/** Lifetime of the lock. Longer than discovery and registration can take. */
const LOCK_MS = 30_000;
const LOOK_AGAIN_MS = 100;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Time after which the record is written again, with a new lifetime and sealed with the current secret. */
const RENEW_MS = 24 * 3_600_000;
/**
 * Time after a registration in which `forget` has no effect. A provider that refuses new clients would otherwise get a
 * flood of registrations.
 */
const FORGET_MIN_MS = 5 * 60_000;

export function createUpstreamRegistration(
  ports: IssuerPorts,
  secrets: IssuerSecrets,
  settings: OwnRegistration,
): UpstreamRegistration {
  const { store, clock } = ports;
  const context = contextOf(settings);
  const key = KEYS.registration(settings.name, context);
  const lock = KEYS.registrationLock(settings.name, context);
  let pending: Promise<RegisteredClient> | undefined;
  let failed: { readonly failure: Failure; readonly waitMs: number; readonly until: number } | undefined;

  function opened(sealed: string | undefined): RegisteredClient | undefined {
    const text = sealed === undefined ? undefined : secrets.unseal('upstream client', context, sealed);
    if (text === undefined) return undefined;
    const client: RegisteredClient = JSON.parse(text);
    return client;
  }

  const sealed = (client: RegisteredClient) => secrets.seal('upstream client', context, JSON.stringify(client));

  async function known(): Promise<RegisteredClient | undefined> {
    const text = await store.get(key);
    const client = opened(text);
    if (text === undefined || client === undefined) return undefined;
    const nowMs = clock.now();
    if (client.expiresAtMs !== undefined && client.expiresAtMs - EXPIRY_SKEW_MS < nowMs) return undefined;
    if (await store.add(KEYS.registrationRenewal(settings.name, context), '1', RENEW_MS)) {
      await store.replace(key, text, sealed(client), REGISTRATION_MS);
    }
    return client;
  }

  async function register(): Promise<RegisteredClient> {
    try {
      const client = await requestRegistration(ports, settings);
      await store.set(key, sealed(client), REGISTRATION_MS);
      failed = undefined;
      return client;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const waitMs = failed === undefined ? RETRY_MIN_MS : Math.min(failed.waitMs * 2, RETRY_MAX_MS);
      failed = { failure: error, waitMs, until: clock.monotonic() + waitMs };
      throw error;
    }
  }

  async function load(): Promise<RegisteredClient> {
    for (;;) {
      const client = await known();
      if (client !== undefined) return client;
      if (failed !== undefined && clock.monotonic() < failed.until) throw failed.failure;
      if (await store.add(lock, '1', LOCK_MS)) {
        try {
          // The previous owner of the lock may have registered the client.
          return (await known()) ?? (await register());
        } finally {
          await store.delete([lock]);
        }
      }
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    }
  }

  return {
    find() {
      pending ??= load().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    async forget({ id, registeredAtMs }) {
      if (clock.now() - registeredAtMs < FORGET_MIN_MS) return;
      if (opened(await store.get(key))?.id === id) await store.delete([key]);
    },
  };
}

/** Returns a digest of the configuration. A changed configuration needs another client at the provider. */
function contextOf({ name, redirectUri, scopes, registration }: OwnRegistration): string {
  const { discoveryUrl, registrationEndpoint, softwareId, softwareStatement } = registration;
  const parts = [name, redirectUri, scopes, discoveryUrl, registrationEndpoint, softwareId, softwareStatement];
  return sha256(JSON.stringify(parts)).slice(0, 32);
}
