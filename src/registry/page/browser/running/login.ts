// Logs a reader in at a server's authorization server of the same origin: registration (RFC 7591), code with PKCE (RFC
// 7636), token for this server (RFC 8707). The tab stores the state of an unfinished login. Tokens are only in memory.

import { fragmentOf } from '../address.ts';
import { type Members, members, text, texts } from '../json.ts';
import type { Running } from './servers.ts';

type Named = Pick<Running, 'namespace' | 'name'>;

export interface Logins {
  /** Returns whether the page can log in at the server. The page uses only authorization servers of its own origin. */
  readonly offers: (server: Running, signal: AbortSignal) => Promise<boolean>;
  /** Redirects the reader to the authorization server. Throws an Error whose message is for the reader. */
  readonly begin: (server: Running, signal: AbortSignal) => Promise<void>;
  /** Completes a login after the redirect back: removes the response from the URL, and requests the token. */
  readonly finish: () => Promise<void>;
  /** Returns the token, or undefined before a login. */
  readonly token: (server: Named) => string | undefined;
  /** Deletes a token that the server no longer accepts. */
  readonly forget: (server: Named) => void;
  /** Returns why the last login failed, or undefined if it did not fail. */
  readonly fault: (server: Named) => string | undefined;
}

/** State of an unfinished login. */
interface Pending extends Named {
  readonly state: string;
  readonly verifier: string;
  readonly clientId: string;
  readonly issuer: string;
  /** True if the authorization server's responses contain `iss` (RFC 9207). */
  readonly namesIssuer: boolean;
  readonly tokenEndpoint: string;
  readonly resource: string;
}

const KEY = 'skep-login';
const RANDOM_BYTES = 32;
const TIMEOUT_MS = 10_000;

export function createLogins(): Logins {
  const tokens = new Map<string, string>();
  const faults = new Map<string, string>();

  async function finish(): Promise<void> {
    const answer = new URLSearchParams(location.search);
    if (answer.get('state') === null) return;
    const pending = takePending();
    const fragment = pending === undefined ? location.hash : fragmentOf({ view: 'running', ...onlyName(pending) });
    history.replaceState(undefined, '', `${location.pathname}${fragment}`);
    // No login was begun in this tab, so the response is not for this page.
    if (pending === undefined || pending.state !== answer.get('state')) return;
    const id = loginKey(pending);
    try {
      tokens.set(id, await redeem(pending, answer));
      faults.delete(id);
    } catch (error) {
      faults.set(id, error instanceof Error ? error.message : String(error));
    }
  }

  return {
    offers: async (server, signal) => (await findIssuer(server, signal).catch(() => undefined)) !== undefined,
    begin,
    finish,
    token: (server) => tokens.get(loginKey(server)),
    forget: (server) => void tokens.delete(loginKey(server)),
    fault: (server) => faults.get(loginKey(server)),
  };
}

function loginKey({ namespace, name }: Named): string {
  return `${namespace}/${name}`;
}

function onlyName({ namespace, name }: Named): Named {
  return { namespace, name };
}

interface Described {
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly issuer: string;
  readonly namesIssuer: boolean;
  readonly authorize: string;
  readonly token: string;
  readonly register: string;
}

/**
 * Discovers the authorization server (RFC 9728, RFC 8414). Returns undefined if it has another origin, does not support
 * both registration and PKCE, or has metadata for another server.
 */
async function findIssuer({ url }: Running, signal: AbortSignal): Promise<Described | undefined> {
  const resource = await fetchJson(`/.well-known/oauth-protected-resource${new URL(url).pathname}`, { signal });
  const issuer = ownUrl(texts(resource.authorization_servers)[0]);
  if (issuer === undefined) return undefined;
  const path = new URL(issuer).pathname.replace(/\/$/, '');
  const metadata = await fetchJson(`/.well-known/oauth-authorization-server${path}`, { signal });
  const [authorize, token, register] = [
    ownUrl(metadata.authorization_endpoint),
    ownUrl(metadata.token_endpoint),
    ownUrl(metadata.registration_endpoint),
  ];
  // RFC 9728 section 3.3: with the metadata of another resource, this server would get a token for that resource.
  if (resource.resource !== url || metadata.issuer !== issuer) return undefined;
  // Without S256, the authorization server would not check the verifier.
  if (!texts(metadata.code_challenge_methods_supported).includes('S256')) return undefined;
  if (authorize === undefined || token === undefined || register === undefined) return undefined;
  const scopes = texts(resource.scopes_supported);
  const namesIssuer = metadata.authorization_response_iss_parameter_supported === true;
  return { resource: url, scopes, issuer, namesIssuer, authorize, token, register };
}

/** Returns undefined if the value is not a URL of this origin. */
function ownUrl(value: unknown): string | undefined {
  const given = text(value);
  return given !== undefined && URL.parse(given)?.origin === location.origin ? given : undefined;
}

async function begin(server: Running, signal: AbortSignal): Promise<void> {
  const found = await findIssuer(server, signal);
  if (found === undefined) throw new Error('The authorization server does not let this page log in.');
  const redirectUri = redirectUriOf();
  const client = await fetchJson(found.register, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'The page of skep',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }),
    signal,
  });
  const clientId = text(client.client_id);
  if (clientId === undefined) throw new Error('The authorization server has not registered this page.');
  const [state, verifier] = [randomText(), randomText()];
  const { issuer, namesIssuer, resource, scopes, token: tokenEndpoint } = found;
  keepPending({ ...onlyName(server), state, verifier, clientId, issuer, namesIssuer, tokenEndpoint, resource });
  const asked = new URL(found.authorize);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    ...{ state, resource },
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) asked.searchParams.set(name, value);
  location.assign(asked.href);
}

/** Requests the token. Throws an Error whose message is for the reader. */
async function redeem(pending: Pending, answer: URLSearchParams): Promise<string> {
  // A response of another authorization server must be refused (RFC 9207).
  const issuer = answer.get('iss');
  const isOther = issuer === null ? pending.namesIssuer : issuer !== pending.issuer;
  if (isOther) throw new Error('The response came from another authorization server.');
  const [code, refusal] = [answer.get('code'), answer.get('error')];
  if (code === null)
    throw new Error(`The login was refused: ${answer.get('error_description') ?? refusal ?? 'no code'}`);
  const granted = await fetchJson(pending.tokenEndpoint, {
    method: 'POST',
    // The page waits for this request before it shows a view.
    signal: AbortSignal.timeout(TIMEOUT_MS),
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUriOf(),
      client_id: pending.clientId,
      code_verifier: pending.verifier,
      resource: pending.resource,
    }),
  });
  const token = text(granted.access_token);
  if (token === undefined) throw new Error('The response of the authorization server has no token.');
  return token;
}

function redirectUriOf(): string {
  return `${location.origin}${location.pathname}`;
}

/** Throws an Error whose message is for the reader. */
async function fetchJson(path: string, init: RequestInit): Promise<Members> {
  const response = await fetch(path, { ...init, credentials: 'omit', redirect: 'error' });
  const body = members(await response.json().catch(() => undefined));
  if (response.ok) return body;
  throw new Error(text(body.error_description) ?? text(body.error) ?? `${response.status} ${response.statusText}`);
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function keepPending(pending: Pending): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

/** Removes the state, so that only one response is accepted. */
function takePending(): Pending | undefined {
  const kept = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (kept === null) return undefined;
  const values = parseMembers(kept);
  const [namespace, name, state] = [text(values.namespace), text(values.name), text(values.state)];
  const [verifier, clientId, issuer] = [text(values.verifier), text(values.clientId), text(values.issuer)];
  const [tokenEndpoint, resource] = [ownUrl(values.tokenEndpoint), text(values.resource)];
  if (namespace === undefined || name === undefined || state === undefined || verifier === undefined) return undefined;
  if (clientId === undefined || issuer === undefined || tokenEndpoint === undefined || resource === undefined)
    return undefined;
  const namesIssuer = values.namesIssuer === true;
  return { namespace, name, state, verifier, clientId, issuer, namesIssuer, tokenEndpoint, resource };
}

/** Returns an empty object if the text is not JSON: other pages of this origin may have written it. */
function parseMembers(kept: string): Members {
  try {
    return members(JSON.parse(kept));
  } catch {
    return {};
  }
}
