// Responds to requests that are not for resources: health, version, discovery, schemas and test endpoints.

import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '#std/json.ts';
import { issuerDocument } from '../accounts/accounts.ts';
import type { AccountSigner } from '../accounts/signer.ts';
import { methodNotAllowed } from '../api/status.ts';
import { aggregatedDiscovery, coreVersions, groupList, oneGroup, resourceList } from '../discovery/groups.ts';
import type { OpenApi } from '../discovery/openapi.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { negotiate } from './accept.ts';
import type { CounterStore } from './counters.ts';
import { type Faults, readFault } from './faults.ts';
import { type ApiResponse, jsonAnswer, textAnswer } from './respond.ts';

export interface PlainPaths {
  readonly signer: AccountSigner;
  readonly types: () => readonly ResourceType[];
  readonly openApi: OpenApi;
  readonly counters: CounterStore;
  readonly faults: Faults;
  readonly address: () => string;
}

/** The Kubernetes release whose behaviour this server imitates. */
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+devcluster',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

const HEALTH = ['/healthz', '/livez', '/readyz'];

export function isPublicPath(path: string): boolean {
  return path === '/version' || HEALTH.includes(path);
}

/** Returns undefined if the path is unknown. */
export function answerPlain(
  parts: PlainPaths,
  message: IncomingMessage,
  url: URL,
  body: Buffer,
): ApiResponse | undefined {
  const path = url.pathname.length > 1 && url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  if (path.startsWith('/devcluster/')) return answerOwn(parts, message.method ?? 'GET', path, body);
  const answer = answerGet(parts, message, path, url);
  if (answer !== undefined && message.method !== 'GET' && message.method !== 'HEAD') throw methodNotAllowed();
  return answer;
}

function answerGet(parts: PlainPaths, message: IncomingMessage, path: string, url: URL): ApiResponse | undefined {
  if (HEALTH.includes(path)) return textAnswer(200, 'ok');
  if (path === '/version') return jsonAnswer(200, VERSION);
  if (path === '/openapi/v3') return textAnswer(200, JSON.stringify(parts.openApi.index(parts.types())));
  if (path.startsWith('/openapi/v3/')) return answerDocument(parts, message, path.slice('/openapi/v3/'.length), url);
  return answerIssuer(parts, message, path) ?? answerDiscovery(parts, message, path);
}

function answerIssuer(
  { signer, address }: PlainPaths,
  { headers }: IncomingMessage,
  path: string,
): ApiResponse | undefined {
  const document = issuerDocument(signer, address(), path, headers.accept ?? '');
  return document && { code: 200, ...document, headers: { 'cache-control': 'public, max-age=3600' } };
}

function answerDiscovery(parts: PlainPaths, message: IncomingMessage, path: string): ApiResponse | undefined {
  const types = parts.types();
  const [prefix, first, second, ...more] = path.split('/').slice(1);
  if (more.length > 0 || (prefix !== 'api' && prefix !== 'apis')) return undefined;
  if (first === undefined) return answerRoot(parts, message, prefix);
  const found =
    prefix === 'api'
      ? second === undefined && resourceList(types, '', first)
      : second === undefined
        ? oneGroup(types, first)
        : resourceList(types, first, second);
  return found ? jsonAnswer(200, found) : undefined;
}

const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function answerRoot(parts: PlainPaths, message: IncomingMessage, prefix: 'api' | 'apis'): ApiResponse {
  const types = parts.types();
  const { form } = negotiate(message.headers.accept ?? '', ['aggregated-discovery', 'object']);
  if (form === 'aggregated-discovery') {
    return { ...jsonAnswer(200, aggregatedDiscovery(types, prefix)), contentType: AGGREGATED_TYPE };
  }
  const root: JsonObject = prefix === 'api' ? coreVersions(parts.address()) : groupList(types);
  return jsonAnswer(200, root);
}

/**
 * Returns a document. If the URL has the document's hash, the response may be cached forever. A URL with another hash
 * is redirected.
 */
function answerDocument(parts: PlainPaths, message: IncomingMessage, path: string, url: URL): ApiResponse | undefined {
  const document = parts.openApi.document(parts.types(), path);
  if (document === undefined) return { code: 404, body: '' };
  const { hash, text } = document;
  const etag = { etag: `"${hash}"`, vary: 'Accept' };
  const asked = url.searchParams.get('hash');
  if (asked !== null && asked !== hash) {
    return { ...textAnswer(301, ''), headers: { location: `/openapi/v3/${path}?hash=${hash}` } };
  }
  if (message.headers['if-none-match'] === etag.etag) return { ...textAnswer(304, ''), headers: etag };
  const lasting: Record<string, string> =
    asked === null ? {} : { 'cache-control': 'public, immutable', expires: new Date(8.64e15).toUTCString() };
  return { code: 200, contentType: 'application/json', body: text, headers: { ...etag, ...lasting } };
}

/**
 * Responds to `/devcluster/counters` (GET, DELETE) and `/devcluster/faults` (POST, DELETE), which tests in other
 * processes use.
 */
function answerOwn(parts: PlainPaths, method: string, path: string, body: Buffer): ApiResponse | undefined {
  switch (`${method} ${path}`) {
    case 'GET /devcluster/counters':
      return jsonAnswer(200, parts.counters.read());
    case 'DELETE /devcluster/counters':
      parts.counters.reset();
      return jsonAnswer(200, parts.counters.read());
    case 'POST /devcluster/faults':
      return addFault(parts, body);
    case 'DELETE /devcluster/faults':
      parts.faults.clear();
      return jsonAnswer(200, {});
    default:
      return undefined;
  }
}

function addFault(parts: PlainPaths, body: Buffer): ApiResponse {
  const fault = readFault(parseOrNull(body));
  if (fault === undefined) return textAnswer(400, 'a fault is {"match": {...}, "action": {...}}\n');
  parts.faults.add(fault);
  return jsonAnswer(201, fault);
}

function parseOrNull(body: Buffer) {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
