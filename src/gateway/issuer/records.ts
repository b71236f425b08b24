// Defines the records of the authorization server, and their keys.

import type { IssuerStore } from './ports.ts';

/** How a client with a secret proves itself (RFC 6749 section 2.3.1). */
export const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

export interface ClientSecret {
  /** Registered method. Undefined if both methods are accepted. */
  readonly method?: (typeof SECRET_METHODS)[number];
  /** SHA-256 of the secret, which is random, so that it cannot be guessed. */
  readonly digest: string;
}

/** A client that registered itself (RFC 7591). */
export interface ClientRecord {
  readonly name?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Scopes of this server that the client named. Undefined if it named no scopes. */
  readonly scopes?: readonly string[];
  /** Undefined if the client is public. */
  readonly secret?: ClientSecret;
  readonly registeredAtMs: number;
}

/** A checked request of a client to the authorization endpoint. */
export interface Authorization {
  readonly client: string;
  readonly redirectUri: string;
  /** Whether the request named the redirect URI. A client with one URI may omit it. */
  readonly redirectNamed: boolean;
  readonly state?: string;
  /** Challenge of RFC 7636, S256. */
  readonly challenge: string;
  readonly scopes: readonly string[];
  /** Audience of the future tokens. */
  readonly audience: readonly string[];
}

export interface Person {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
}

/** A login at one provider. */
export interface Login {
  readonly provider: string;
  /** Id of the person at the provider. */
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** The sealed `UpstreamTokens`. */
  readonly tokens: string;
}

/** A login in progress in one browser. */
export interface Pending {
  readonly stage: 'consent' | 'upstream';
  readonly authorization: Authorization;
  /** Digest of the cookie of the browser that began the login. */
  readonly browser: string;
  readonly session: string;
  /**
   * Person known in the browser, whose stored consent is used unless `consented` says that consent was given in this
   * login.
   */
  readonly person?: string;
  readonly consented: boolean;
  readonly logins: readonly Login[];
  /** Secrets for the provider at which the browser is at the moment. */
  readonly verifier?: string;
  readonly nonce?: string;
}

/** A code that was issued to a client. */
export interface CodeRecord {
  readonly authorization: Authorization;
  readonly session: string;
  readonly person: Person;
  /** Whether the code was exchanged. A code is valid once (RFC 6749 section 4.1.2). */
  readonly used: boolean;
}

/** The grant of a session's refresh tokens. */
export interface GrantRecord {
  readonly client: string;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  /** Newest used generation of a refresh token; 0 if none was used. */
  readonly used: number;
  /** Digest of the newest used refresh token. */
  readonly usedToken?: string;
}

/** The consent of one person to one client. */
export interface Consent {
  readonly name: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  readonly atMs: number;
  /** Newest sessions under the consent: they end when the consent is withdrawn. */
  readonly sessions: readonly string[];
}

/** Consents of one person, by client. */
export type Consents = Readonly<Record<string, Consent>>;

/** The first parts of the keys are the same as in ToolHive. */
export const KEYS = {
  client: (id: string) => `client:${id}`,
  /** A client without a login so far. Its record is kept for a short time, and does not displace other records. */
  newClient: (id: string) => `newclient:${id}`,
  pending: (id: string) => `pending:${id}`,
  code: (id: string) => `authcode:${id}`,
  grant: (session: string) => `refresh:${session}`,
  upstream: (session: string, provider: string) => `upstream:${session}:${provider}`,
  upstreamLock: (session: string, provider: string) => `lock:${session}:${provider}`,
  /** Registration of this server at a provider, sealed; all replicas share it. */
  registration: (provider: string, settings: string) => `dcr:${provider}:${settings}`,
  registrationLock: (provider: string, settings: string) => `lock:dcr:${provider}:${settings}`,
  registrationRenewal: (provider: string, settings: string) => `renewed:${provider}:${settings}`,
  consents: (person: string) => `user:${person}`,
  /** A used assertion of a trusted issuer. */
  bearerAssertion: (mark: string) => `assertion:${mark}`,
  assertion: (client: string, id: string) => `jwt:${client}:${id}`,
} as const;

export const PENDING_MS = 10 * 60_000;
export const NEW_CLIENT_MS = 24 * 3_600_000;
/** Time for which a client is kept after its last login. */
export const CLIENT_MS = 90 * 24 * 3_600_000;
/** Time for which a registration at a provider is kept after it was last written. */
export const REGISTRATION_MS = 90 * 24 * 3_600_000;
/** Maximum number of sessions of one client and person. */
export const SESSIONS_MAX = 50;
/** Time for which a consent is kept after its last use, longer than the lifetime of any refresh token. */
const CONSENT_MS = 90 * 24 * 3_600_000;

/**
 * A used assertion is remembered for so much longer than it is good for: the clock of another replica may be behind.
 */
export const ASSERTION_SKEW_MS = 5 * 60_000;

/** Time for which a used code is remembered. */
export const USED_CODE_MS = 30 * 60_000;

/** Returns the context of sealed tokens, so that the tokens of one session cannot be opened in another session. */
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

export async function takePending(store: IssuerStore, id: string): Promise<Pending | undefined> {
  const text = await store.take(KEYS.pending(id));
  if (text === undefined) return undefined;
  const pending: Pending = JSON.parse(text);
  return pending;
}

/** Returns the consent of the person to the client, or undefined without consent. */
export async function findConsent(store: IssuerStore, person: string, client: string): Promise<Consent | undefined> {
  const known = await readRecord<Consents>(store, KEYS.consents(person));
  return known?.record[client];
}

/** Adds or replaces the consent, or removes it if `consent` is undefined. Two simultaneous changes both succeed. */
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
