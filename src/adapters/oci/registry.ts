// Reads manifests, blobs and referrers from a registry (OCI distribution specification 1.1) with tokens of its token
// service. Verifies content by its digest.

import type { ImageName } from '#std/address/image-name.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject, objectsIn, parseJson } from '#std/json.ts';
import type { Outbound, OutboundResponse } from '../http/outbound.ts';
import { parseChallenge, realmUrl } from './challenge.ts';
import type { RegistryCredentials } from './credentials.ts';

export interface RegistryOptions {
  readonly outbound: Outbound;
  /** Registries that are accessed by http. */
  readonly plainHttp: readonly string[];
  /** Trusted hosts of token services by registry. */
  readonly realms: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Manifest {
  readonly digest: string;
  readonly content: JsonObject;
  readonly bytes: Uint8Array;
}

export interface Descriptor {
  readonly digest: string;
  readonly mediaType: string;
  readonly artifactType?: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Reads one repository of a registry. Methods throw Failure with one of OCI_CODES or OUTBOUND_CODES. `manifest` returns
 * undefined if the registry lacks the manifest (404).
 */
export interface Repository {
  manifest(reference: string): Promise<Manifest | undefined>;
  blob(digest: string): Promise<Uint8Array>;
  referrers(digest: string): Promise<readonly Descriptor[]>;
}

const MANIFEST_BYTES = 4 * 1024 * 1024;
const BLOB_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
/** Maximum redirects for blobs, which registries redirect to their storage. */
const BLOB_REDIRECTS = 3;
const REFERRER_PAGES = 5;

const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

export function openRepository(
  options: RegistryOptions,
  image: ImageName,
  credentials?: RegistryCredentials,
): Repository {
  const host = image.registry === 'docker.io' ? 'registry-1.docker.io' : image.registry;
  const scheme = options.plainHttp.includes(image.registry) ? 'http' : 'https';
  const base = new URL(`${scheme}://${host}/v2/${image.repository}/`);
  const request = authorizedRequests(options, image, base, credentials);
  const get = async (path: string, accept: string, limits: ReadLimits): Promise<OutboundResponse | undefined> => {
    const url = new URL(path, base);
    const response = await request(url, accept, limits);
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw statusFailure(image, response, options.now());
    return response;
  };
  return {
    async manifest(reference) {
      const response = await get(`manifests/${reference}`, MANIFESTS, { maxBytes: MANIFEST_BYTES, redirects: 0 });
      return response && manifestOf(image, reference, response);
    },
    async blob(digest) {
      const response = await get(`blobs/${digest}`, '*/*', { maxBytes: BLOB_BYTES, redirects: BLOB_REDIRECTS });
      if (response === undefined) throw contentFailure(image, `has no blob ${digest}`);
      if (`sha256:${sha256(response.body)}` !== digest) throw contentFailure(image, `sent another blob than ${digest}`);
      return response.body;
    },
    referrers: (digest) => readReferrers(image, digest, get),
  };
}

function manifestOf(image: ImageName, reference: string, { body }: OutboundResponse): Manifest {
  const digest = `sha256:${sha256(body)}`;
  if (reference.startsWith('sha256:') && digest !== reference) {
    throw contentFailure(image, `sent another manifest than ${reference}`);
  }
  return { digest, content: jsonOf(image, body), bytes: body };
}

function jsonOf(image: ImageName, body: Uint8Array): JsonObject {
  const content = parseJson(Buffer.from(body).toString('utf8'));
  if (!isObject(content)) throw contentFailure(image, 'sent a manifest that is not a JSON object');
  return content;
}

interface ReadLimits {
  readonly maxBytes: number;
  readonly redirects: number;
}

type Get = (path: string, accept: string, limits: ReadLimits) => Promise<OutboundResponse | undefined>;

const INDEX = 'application/vnd.oci.image.index.v1+json';

/**
 * Reads referrers from the API. If the registry lacks this API, reads them from a tag (section "Referrers tag schema").
 */
async function readReferrers(image: ImageName, digest: string, get: Get): Promise<readonly Descriptor[]> {
  const limits = { maxBytes: MANIFEST_BYTES, redirects: 0 };
  const found: Descriptor[] = [];
  let path: string | undefined = `referrers/${digest}`;
  for (let page = 0; path !== undefined && page < REFERRER_PAGES; page += 1) {
    const response: OutboundResponse | undefined = await get(path, INDEX, limits);
    if (response === undefined) break;
    found.push(...descriptorsIn(jsonOf(image, response.body).manifests));
    path = nextPage(response);
    if (path === undefined) return found;
  }
  const tagged = await get(`manifests/${digest.replace(':', '-')}`, INDEX, limits);
  const listed = tagged === undefined ? [] : descriptorsIn(jsonOf(image, tagged.body).manifests);
  return [...found, ...listed];
}

/** Returns the URL of the next page. Pages on another host are ignored. */
function nextPage({ headers, url }: OutboundResponse): string | undefined {
  const [, target] = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(headers.link ?? '') ?? [];
  const next = target === undefined ? null : URL.parse(target, url);
  return next !== null && next.origin === new URL(url).origin ? next.href : undefined;
}

export function descriptorsIn(value: unknown): Descriptor[] {
  return objectsIn(value).flatMap(({ digest, mediaType, artifactType, annotations }) => {
    if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest)) return [];
    const texts = Object.entries(isObject(annotations) ? annotations : {}).filter(
      ([, text]) => typeof text === 'string',
    );
    return [
      {
        digest,
        mediaType: typeof mediaType === 'string' ? mediaType : '',
        ...(typeof artifactType === 'string' ? { artifactType } : {}),
        annotations: Object.fromEntries(texts) as Record<string, string>,
      },
    ];
  });
}

/**
 * Sends requests for one repository. After the first 401, all requests have the authorization that this response asks
 * for.
 */
function authorizedRequests(
  options: RegistryOptions,
  image: ImageName,
  base: URL,
  credentials: RegistryCredentials | undefined,
) {
  const { outbound } = options;
  let authorization: string | undefined;
  const send = (url: URL, accept: string, limits: ReadLimits): Promise<OutboundResponse> =>
    outbound.request({
      url: url.href,
      method: 'GET',
      headers: { accept, ...(authorization === undefined ? {} : { authorization }) },
      timeoutMs: TIMEOUT_MS,
      ...limits,
    });
  return async (url: URL, accept: string, limits: ReadLimits): Promise<OutboundResponse> => {
    const response = await send(url, accept, limits);
    // A 401 of another host, such as the storage to which the registry redirects, must not cause a request with
    // credentials.
    if (response.status !== 401 || authorization !== undefined || new URL(response.url).origin !== base.origin)
      return response;
    authorization = await authorize(options, image, base, response, credentials);
    return authorization === undefined ? response : send(url, accept, limits);
  };
}

async function authorize(
  { outbound, realms, now }: RegistryOptions,
  image: ImageName,
  base: URL,
  response: OutboundResponse,
  credentials: RegistryCredentials | undefined,
): Promise<string | undefined> {
  const challenge = parseChallenge(response.headers['www-authenticate'] ?? '');
  const basic = credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  if (challenge?.scheme === 'basic') return basic;
  if (challenge?.scheme !== 'bearer') return undefined;
  const { realm, service } = challenge.parameters;
  const url = realmUrl(image.registry, base, realm, realms);
  // Sets the scope, so that the registry cannot choose the permissions of its token.
  url.searchParams.set('scope', `repository:${image.repository}:pull`);
  if (service !== undefined) url.searchParams.set('service', service);
  const headers: Record<string, string> = basic === undefined ? {} : { authorization: basic };
  const answer = await outbound.request({
    url: url.href,
    method: 'GET',
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBytes: 256 * 1024,
  });
  if (answer.status !== 200) throw statusFailure(image, answer, now());
  const content = parseJson(Buffer.from(answer.body).toString('utf8'));
  const token = isObject(content) ? (content.token ?? content.access_token) : undefined;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw contentFailure(image, 'sent a token that is not one');
  return `Bearer ${token}`;
}

function contentFailure({ registry, repository }: ImageName, says: string): Failure {
  return new Failure('image-content', `the registry ${registry} ${says} of ${repository}`);
}

/** Sets `data.retryAfterMs` if the registry sent `Retry-After`. */
function statusFailure({ registry }: ImageName, { status, headers }: OutboundResponse, now: number): Failure {
  const retryAfterMs = waitOf(headers['retry-after'], now);
  const says =
    status === 401 || status === 403
      ? `refuses to show the image (${status}): are pull secrets missing?`
      : status === 429
        ? 'limits requests (429)'
        : `answered with status ${status}`;
  return new Failure('image-registry', `the registry ${registry} ${says}`, {
    data: { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    retryable: status === 429 || status >= 500,
  });
}

/** Parses seconds or a date (RFC 9110 section 10.2.3). */
function waitOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
