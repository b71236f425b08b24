// What the authorization server keeps, and under which keys.

import type { IssuerStore } from './ports.ts';

/** How a client with a secret proves itself (RFC 6749 section 2.3.1). */
export const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

export interface ClientSecret {
  /** Undefined: either of them. */
  readonly method?: (typeof SECRET_METHODS)[number];
  /** SHA-256 of the secret, which is random: no one finds it by trying. */
  readonly digest: string;
}

/** A client that registered itself (RFC 7591). */
export interface ClientRecord {
  readonly name?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** The scopes of this server that it named; undefined if it named none. */
  readonly scopes?: readonly string[];
  /** Undefined: the client is public. */
  readonly secret?: ClientSecret;
  readonly registeredAtMs: number;
}

/** What a client asked for at the authorization endpoint, checked. */
export interface Authorization {
  readonly client: string;
  readonly redirectUri: string;
  /** False: the client named none, and has but one. */
  readonly redirectNamed: boolean;
  readonly state?: string;
  /** RFC 7636, S256. */
  readonly challenge: string;
  readonly scopes: readonly string[];
  /** Of the tokens to come. */
  readonly audience: readonly string[];
}

export interface Person {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
}

/** One login at one provider. */
export interface Login {
  readonly provider: string;
  /** Of the person, at the provider. */
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  /** `UpstreamTokens`, sealed. */
  readonly tokens: string;
}

/** A login that is under way in one browser. */
export interface Pending {
  readonly stage: 'consent' | 'upstream';
  readonly authorization: Authorization;
  /** Digest of the cookie of the browser that began it. */
  readonly browser: string;
  readonly session: string;
  /** Who is known in the browser; what was consented to is theirs, unless `consented` says that it was in this login. */
  readonly person?: string;
  readonly consented: boolean;
  readonly logins: readonly Login[];
  /** Of the provider that the browser is at. */
  readonly verifier?: string;
  readonly nonce?: string;
}

/** A code that was given to a client. */
export interface CodeRecord {
  readonly authorization: Authorization;
  readonly session: string;
  readonly person: Person;
  /** It gives tokens once (RFC 6749 section 4.1.2). */
  readonly used: boolean;
}

/** What the refresh tokens of a session are for. */
export interface GrantRecord {
  readonly client: string;
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  /** Newest generation of a refresh token that was used; 0: none was. */
  readonly used: number;
  /** Digest of that token. */
  readonly usedToken?: string;
}

/** What one person has allowed to one client. */
export interface Consent {
  readonly name: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  readonly atMs: number;
  /** The newest of them: they end when it is taken back. */
  readonly sessions: readonly string[];
}

/** By client. */
export type Consents = Readonly<Record<string, Consent>>;

/** The first part as the existing platform names them. */
export const KEYS = {
  client: (id: string) => `client:${id}`,
  /** No one has logged in with it yet: it is kept for a short time, and does not push others out. */
  newClient: (id: string) => `newclient:${id}`,
  pending: (id: string) => `pending:${id}`,
  code: (id: string) => `authcode:${id}`,
  grant: (session: string) => `refresh:${session}`,
  upstream: (session: string, provider: string) => `upstream:${session}:${provider}`,
  upstreamLock: (session: string, provider: string) => `lock:${session}:${provider}`,
  /** This server as a client of a provider, sealed; all replicas share it. */
  registration: (provider: string, settings: string) => `dcr:${provider}:${settings}`,
  registrationLock: (provider: string, settings: string) => `lock:dcr:${provider}:${settings}`,
  registrationRenewal: (provider: string, settings: string) => `renewed:${provider}:${settings}`,
  consents: (person: string) => `user:${person}`,
  /** An assertion of a trusted issuer that was used. */
  bearerAssertion: (mark: string) => `assertion:${mark}`,
  assertion: (client: string, id: string) => `jwt:${client}:${id}`,
} as const;

export const PENDING_MS = 10 * 60_000;
export const NEW_CLIENT_MS = 24 * 3_600_000;
/** Since its last login. */
export const CLIENT_MS = 90 * 24 * 3_600_000;
/** Since the registration at a provider was last written. */
export const REGISTRATION_MS = 90 * 24 * 3_600_000;
/** Of one client and person. */
export const SESSIONS_MAX = 50;
/** Since its last use. Longer than any refresh token is good for. */
const CONSENT_MS = 90 * 24 * 3_600_000;

/** That a code was used is known for so long. */
export const USED_CODE_MS = 30 * 60_000;

/** Sealed tokens of one session open in no other one. */
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

/** What the person has allowed to the client; undefined where it is nothing. */
export async function findConsent(store: IssuerStore, person: string, client: string): Promise<Consent | undefined> {
  const known = await readRecord<Consents>(store, KEYS.consents(person));
  return known?.record[client];
}

/** Adds, replaces or, without `consent`, takes away; both of two who change it at once succeed. */
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
