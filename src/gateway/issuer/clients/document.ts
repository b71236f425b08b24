// Reads clients that a document describes. The URL of the document is the client's id (OAuth Client ID Metadata
// Document, required by the MCP authorization specification).

import { createProviderKeys, type ProviderKeys } from '#auth/jwks.ts';
import { setBounded } from '#std/bounded.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, parseJson, textsIn } from '#std/json.ts';
import { createRateLimit } from '#std/rate.ts';
import type { IssuerPorts } from '../ports.ts';
import { scopeNames } from '../resources.ts';
import type { DocumentCache } from '../settings.ts';
import type { OAuthClient } from './clients.ts';
import { redirectFault } from './redirects.ts';

const URL_LENGTH_MAX = 1024;
const BYTES_MAX = 5 * 1024;
const TIMEOUT_MS = 10_000;
const REDIRECTS_MAX = 20;
const NAME_LENGTH_MAX = 256;
/** Limits of the time for which a document is cached, regardless of the document's cache headers. */
const KEPT_MAX_MS = 7 * 24 * 3_600_000;
const KEPT_MIN_MS = 60_000;
/** Maximum number of fetches per minute for all clients together, because every login request can cause a fetch. */
const FETCHES_PER_MINUTE = 120;

/** Returns whether the id is an https URL with a path, in canonical form. */
export function isDocumentUrl(id: string): boolean {
  const url = URL.parse(id);
  if (url === null || url.protocol !== 'https:' || id.length > URL_LENGTH_MAX) return false;
  return url.pathname !== '/' && url.href === id && url.hash === '' && url.username === '' && url.password === '';
}

export type FindDocument = (id: string) => Promise<OAuthClient | undefined>;

/**
 * Returns a function that finds the client of a document. If the document is not available or not valid, the function
 * reports the reason and returns undefined. Such failures are not cached.
 */
export function createClientDocuments(ports: IssuerPorts, { most, unsaidMs }: DocumentCache): FindDocument {
  const { clock } = ports;
  const known = new Map<string, { readonly client: OAuthClient; readonly until: number }>();
  const pending = new Map<string, Promise<OAuthClient | undefined>>();
  const limit = createRateLimit(FETCHES_PER_MINUTE, clock.monotonic);

  async function load(id: string): Promise<OAuthClient | undefined> {
    try {
      if (limit('') !== undefined)
        throw unusableDocument(id, 'is not fetched: too many documents were requested in this minute');
      const { client, keptMs } = await fetchDocument(ports, id, unsaidMs);
      setBounded(known, id, { client, until: clock.monotonic() + keptMs }, most);
      return client;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      ports.notify({ code: 'issuer-client-document', level: 'info', message: error.message, data: { client: id } });
      return undefined;
    }
  }

  return async function findDocument(id) {
    const last = known.get(id);
    if (last !== undefined && clock.monotonic() < last.until) return last.client;
    const loading = pending.get(id) ?? load(id).finally(() => pending.delete(id));
    pending.set(id, loading);
    return loading;
  };
}

async function fetchDocument(
  ports: IssuerPorts,
  id: string,
  unsaidMs: number,
): Promise<{ readonly client: OAuthClient; readonly keptMs: number }> {
  const { status, headers, body } = await ports.fetch({
    url: id,
    method: 'GET',
    headers: { accept: 'application/json' },
    // The URL comes from an unauthenticated request.
    allowPrivate: false,
    timeoutMs: TIMEOUT_MS,
    maxBytes: BYTES_MAX,
  });
  if (status !== 200) throw unusableDocument(id, `answered with status ${status}`);
  const document = parseJson(Buffer.from(body).toString('utf8'));
  if (!isObject(document)) throw unusableDocument(id, 'is not a JSON object');
  return { client: clientOf(ports, id, document), keptMs: keptFor(headers['cache-control'] ?? '', unsaidMs) };
}

function clientOf(ports: IssuerPorts, id: string, document: JsonObject): OAuthClient {
  const { client_id: own, client_name: name, token_endpoint_auth_method: method = 'none' } = document;
  if (own !== id) throw unusableDocument(id, 'names another client_id than its own URL');
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    throw unusableDocument(id, 'has a secret, which any client can read');
  const redirectUris = textsIn(document.redirect_uris);
  if (redirectUris.length === 0 || redirectUris.length > REDIRECTS_MAX)
    throw unusableDocument(id, `must name 1 to ${REDIRECTS_MAX} redirect_uris`);
  for (const uri of redirectUris) {
    const fault = redirectFault(uri);
    if (fault !== undefined) throw unusableDocument(id, `has a redirect URI that ${fault}`);
  }
  if (method !== 'none' && method !== 'private_key_jwt')
    throw unusableDocument(id, 'requests a token_endpoint_auth_method other than none and private_key_jwt');
  const { host } = new URL(id);
  return {
    id,
    name: typeof name === 'string' && name.trim() !== '' ? name.slice(0, NAME_LENGTH_MAX) : host,
    host,
    redirectUris,
    grantTypes: 'grant_types' in document ? textsIn(document.grant_types) : ['authorization_code'],
    scopes: typeof document.scope === 'string' ? scopeNames(document.scope) : undefined,
    keys: method === 'none' ? undefined : clientKeys(ports, id, document),
  };
}

/** Returns the client's keys, which are in the document or at a URL that the document names. */
function clientKeys(ports: IssuerPorts, id: string, { jwks, jwks_uri: uri }: JsonObject): ProviderKeys {
  const authPorts = {
    fetch: ports.fetch,
    files: { read: async (path: string) => ports.files.read(path) },
    clock: ports.clock,
    notify: ({ message }: { readonly message: string }) =>
      ports.notify({ code: 'issuer-client-document', level: 'info', message, data: { client: id } }),
  };
  const provider = { name: id, issuerUrl: id, audience: id, allowPrivateIP: false };
  if (isObject(jwks) && Array.isArray(jwks.keys)) {
    const own = { keys: jwks.keys.filter(isObject) };
    return createProviderKeys(authPorts, { ...provider, ownKeys: () => own });
  }
  if (typeof uri === 'string' && URL.parse(uri)?.protocol === 'https:') {
    return createProviderKeys(authPorts, { ...provider, jwksUrl: uri });
  }
  throw unusableDocument(id, 'requests private_key_jwt but has neither jwks nor an https jwks_uri');
}

/**
 * Returns the time in milliseconds for which Cache-Control allows caching (RFC 9111 section 5.2.2), limited to the
 * range from KEPT_MIN_MS to KEPT_MAX_MS.
 */
function keptFor(cacheControl: string, unsaidMs: number): number {
  const [, seconds] = /(?:^|[\s,])max-age=(\d+)/i.exec(cacheControl) ?? [];
  if (/no-store|no-cache/i.test(cacheControl)) return KEPT_MIN_MS;
  const ms = seconds === undefined ? unsaidMs : Number(seconds) * 1000;
  return Math.min(KEPT_MAX_MS, Math.max(KEPT_MIN_MS, ms));
}

function unusableDocument(id: string, what: string): Failure {
  return new Failure('issuer-client-document', `the client document ${id} ${what}`, { data: { client: id } });
}
