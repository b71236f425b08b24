// Defines the records of the authorization server and their keys in the store.

import type { IssuerStore } from './ports.ts';

/** Methods by which a client sends its secret (RFC 6749 section 2.3.1). */
export const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

export interface ClientSecret {
  /** Registered method. undefined if both methods are accepted. */
  readonly method?: (typeof SECRET_METHODS)[number];
  /** SHA-256 of the secret. A fast hash is sufficient, because the secret is random. */
  readonly digest: string;
}

export interface ClientRecord {
  readonly name?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Scopes of this server that the client named. undefined if the client named no scopes. */
  readonly scopes?: readonly string[];
  /** undefined if the client is public. */
  readonly secret?: ClientSecret;
  readonly registeredAtMs: number;
}

/** Validated request of a client to the authorization endpoint. */
export interface Authorization {
  readonly client: string;
  readonly redirectUri: string;
  /** True if the request contained the redirect URI. A client with one redirect URI may omit the parameter. */
  readonly redirectNamed: boolean;
  readonly state?: string;
  /** S256 challenge of RFC 7636. */
  readonly challenge: string;
  readonly scopes: readonly string[];
  /** Audience of the tokens that the login results in. */
  readonly audience: readonly string[];
}

export interface Person {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
}

/** Login at one provider. */
export interface Login {
  readonly provider: string;
  /** Id of the person at the provider. */
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** Sealed `UpstreamTokens`. */
  readonly tokens: string;
}

/** Login in progress in one browser. */
export interface PendingLogin {
  readonly stage: 'consent' | 'upstream';
  readonly authorization: Authorization;
  /** Digest of the cookie of the browser that began the login. */
  readonly browser: string;
  readonly session: string;
  /**
   * Person of the browser's cookie. The person's stored consent is used, unless `consented` says that the person has
   * consented in this login.
   */
  readonly person?: string;
  readonly consented: boolean;
  readonly logins: readonly Login[];
  /** Secrets of the current visit to a provider. */
  readonly verifier?: string;
  readonly nonce?: string;
}

export interface CodeRecord {
  readonly authorization: Authorization;
  readonly session: string;
  readonly person: Person;
  /** True if the code was exchanged. A code is valid once (RFC 6749 section 4.1.2). */
  readonly used: boolean;
}

/** Grant that the refresh tokens of a session belong to. */
export interface GrantRecord {
  readonly client: string;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  /** Generation of the newest used refresh token. 0 if no refresh token was used. */
  readonly used: number;
  /** Digest of the newest used refresh token. */
  readonly usedToken?: string;
}

export interface Consent {
  readonly name: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  readonly atMs: number;
  /** Newest sessions that are based on the consent. The sessions end when the consent is withdrawn. */
  readonly sessions: readonly string[];
}

/** Consents of one person, by client id. */
export type Consents = Readonly<Record<string, Consent>>;

/** Keys of records in the store. The first part of each key is the same as in ToolHive. */
export const KEYS = {
  client: (id: string) => `client:${id}`,
  /**
   * Client with which no person has logged in yet. The record has a short lifetime, and cannot replace records of other
   * kinds.
   */
  newClient: (id: string) => `newclient:${id}`,
  pending: (id: string) => `pending:${id}`,
  code: (id: string) => `authcode:${id}`,
  grant: (session: string) => `refresh:${session}`,
  upstream: (session: string, provider: string) => `upstream:${session}:${provider}`,
  upstreamLock: (session: string, provider: string) => `lock:${session}:${provider}`,
  /** Sealed registration of this server at a provider. All replicas share the registration. */
  registration: (provider: string, settings: string) => `dcr:${provider}:${settings}`,
  registrationLock: (provider: string, settings: string) => `lock:dcr:${provider}:${settings}`,
  registrationRenewal: (provider: string, settings: string) => `renewed:${provider}:${settings}`,
  consents: (person: string) => `user:${person}`,
  /** Used assertion of a trusted issuer. */
  bearerAssertion: (mark: string) => `assertion:${mark}`,
  assertion: (client: string, id: string) => `jwt:${client}:${id}`,
} as const;

export const PENDING_MS = 10 * 60_000;
export const NEW_CLIENT_MS = 24 * 3_600_000;
/** Lifetime of a client's record after the client last got tokens of a login. */
export const CLIENT_MS = 90 * 24 * 3_600_000;
/** Lifetime of a registration at a provider after the last write. */
export const REGISTRATION_MS = 90 * 24 * 3_600_000;
/** Maximum number of sessions of one client and one person. */
export const SESSIONS_MAX = 50;
/** Lifetime of a consent after its last use. Longer than the lifetime of any refresh token. */
const CONSENT_MS = 90 * 24 * 3_600_000;

/**
 * Additional time for which a used assertion is remembered after its expiry, because the clock of another replica may
 * be late.
 */
export const ASSERTION_SKEW_MS = 5 * 60_000;

/** Time for which a used code is remembered. */
export const USED_CODE_MS = 30 * 60_000;

/** Returns the context for sealing tokens. Tokens of one session cannot be opened in another session. */
export function upstreamContext(session: string, provider: string): string {
  return `${session} ${provider}`;
}

export async function readRecord<T>(
  store: IssuerStore,
  key: string,
): Promise<{ readonly text: string; readonly record: T } | undefined> {
  const text = await store.get(key);
  if (text === undefined) return undefined;
  const record: T = JSON.parse(text);
  return { text, record };
}

export function writeRecord<T>(store: IssuerStore, key: string, record: T, ttlMs: number): Promise<void> {
  return store.set(key, JSON.stringify(record), ttlMs);
}

export async function takePending(store: IssuerStore, id: string): Promise<PendingLogin | undefined> {
  const text = await store.take(KEYS.pending(id));
  if (text === undefined) return undefined;
  const pending: PendingLogin = JSON.parse(text);
  return pending;
}

/** Returns undefined if the person has not consented to the client. */
export async function findConsent(store: IssuerStore, person: string, client: string): Promise<Consent | undefined> {
  const known = await readRecord<Consents>(store, KEYS.consents(person));
  return known?.record[client];
}

/** Adds or replaces the consent, or removes it if `consent` is undefined. Concurrent changes are all applied. */
export async function changeConsent(
  store: IssuerStore,
  person: string,
  client: string,
  consent: Consent | undefined,
): Promise<void> {
  const key = KEYS.consents(person);
  for (;;) {
    const known = await readRecord<Consents>(store, key);
    const others = Object.entries(known?.record ?? {}).filter(([each]) => each !== client);
    const next = JSON.stringify(Object.fromEntries(consent === undefined ? others : [...others, [client, consent]]));
    const written =
      known === undefined
        ? await store.add(key, next, CONSENT_MS)
        : await store.replace(key, known.text, next, CONSENT_MS);
    if (written) return;
  }
}
