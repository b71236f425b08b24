// Sends smart HTTP requests of isomorphic-git through the guarded outbound client, with credentials, redirects and
// limits. Errors contain advice. The caller adds URL and ref.

import type { HttpClient } from 'isomorphic-git';
import { Failure } from '#std/failure.ts';
import type { Outbound, OutboundResponse } from '../../http/outbound.ts';
import type { GitCode } from '../codes.ts';
import { serverError, withCapability, withEmptyRefs } from './pkt-line.ts';

/** A sequence of related requests. */
export interface Conversation {
  readonly http: HttpClient;
  close(): void;
}

/** The URL and HTTP client with which isomorphic-git reaches a repository, for every transport. */
export interface Endpoint {
  /** http or https URL for isomorphic-git, without credentials. */
  readonly url: string;
  converse(): Conversation;
}

export interface HttpEndpoint {
  /** URL without credentials, because messages contain it. */
  readonly url: string;
  readonly auth?: { readonly username: string; readonly password: () => Promise<string> };
  readonly outbound: Outbound;
  /** Maximum bytes of one response. */
  readonly maxPackBytes: number;
  /** Timeout in milliseconds of one exchange. */
  readonly timeoutMs: number;
}

export function httpEndpoint(endpoint: HttpEndpoint): Endpoint {
  return { url: endpoint.url, converse: () => ({ http: gitHttp(endpoint), close: () => undefined }) };
}

/**
 * Sends credentials with the first request, because a request without them would cost an additional request each time.
 */
function gitHttp(endpoint: HttpEndpoint): HttpClient {
  // Target of the first request's redirect. Later requests use it, as in git(1) (`http.followRedirects`).
  let base = endpoint.url;
  let thinPacks = false;
  return {
    request: async ({ url, method = 'GET', headers = {}, body }) => {
      const suffix = url.slice(endpoint.url.length);
      const sent = { ...headers, ...(await authorization(endpoint, base)) };
      const payload = requestBody(await collectBytes(body), thinPacks);
      const response = await sendRequest(endpoint, base + suffix, method, sent, payload);
      if (method === 'GET' && response.url.endsWith(suffix)) base = response.url.slice(0, -suffix.length);
      checkStatus(endpoint, response);
      const answer = Buffer.from(response.body);
      if (method === 'GET') thinPacks = answer.includes(' thin-pack');
      checkAnswer(answer, method);
      if (method === 'GET') refuseListOfFiles(answer);
      const { status: statusCode } = response;
      const read = streamOnce(method === 'GET' ? withEmptyRefs(answer) : answer);
      return { url, method, statusCode, statusMessage: '', headers: { ...response.headers }, body: read };
    },
  };
}

async function authorization({ auth, url }: HttpEndpoint, base: string): Promise<Record<string, string>> {
  if (auth === undefined || new URL(url).origin !== new URL(base).origin) return {};
  const pair = `${auth.username}:${await auth.password()}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Throws for an error that a server sends instead of a response, and for responses that cannot be parsed. */
export function checkAnswer(answer: Buffer, method: string): void {
  const complaint = serverError(answer);
  if (complaint !== undefined) throw serverRefusal(complaint);
  if (method === 'GET' && answer.includes('object-format=sha256')) throw unsupportedObjects();
}

/** Refuses the file `info/refs` of the dumb HTTP protocol, which has a line with id and name for each ref. */
function refuseListOfFiles(answer: Buffer): void {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})\trefs\//.test(answer.toString('latin1', 0, 80))) return;
  throw new Failure(
    'git-transport-unsupported',
    'the server hands out the files of the repository (the "dumb" HTTP protocol), but skep reads only the smart HTTP ' +
      'protocol: serve the repository by git http-backend(1) or a Git host, or use its ssh URL',
  );
}

/**
 * Requests thin packs, whose deltas may have bases that the client already has. isomorphic-git does not request them,
 * so each shallow fetch would transfer every file again. `receivePack` adds the bases.
 */
export function requestBody(body: Buffer, thinPacks: boolean): Buffer {
  return thinPacks ? withCapability(body, 'thin-pack') : body;
}

async function sendRequest(
  endpoint: HttpEndpoint,
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  payload: Buffer,
): Promise<OutboundResponse> {
  const { outbound, timeoutMs, maxPackBytes: maxBytes } = endpoint;
  const limits = { timeoutMs, maxBytes };
  try {
    if (method === 'GET') return await outbound.request({ url, method: 'GET', headers, redirects: 3, ...limits });
    return await outbound.request({ url, method: 'POST', headers, body: payload, ...limits });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const code = error.code === 'outbound-too-large' ? 'git-too-large' : 'git-unreachable';
    const data = { ...error.data, outbound: error.code };
    throw new Failure(code, outboundReason(endpoint, error), { data, cause: error, retryable: error.retryable });
  }
}

/**
 * Returns the reason without a URL, because the caller adds the repository's URL. If a redirect led to another URL,
 * returns the message, which contains that URL.
 */
function outboundReason({ url }: HttpEndpoint, { data, message }: Failure): string {
  return typeof data.reason === 'string' && String(data.url).startsWith(url) ? data.reason : message;
}

function checkStatus({ auth }: HttpEndpoint, { status, headers }: OutboundResponse): void {
  if (status === 200) return;
  switch (status) {
    case 401:
    // Azure DevOps responds 203 with a sign-in page.
    case 203:
      throw failed(
        'git-auth-required',
        `the server ${auth === undefined ? 'asks for credentials' : 'refuses the given credentials'}`,
        status,
      );
    case 403:
      throw failed('git-auth-required', 'the server denies access (403)', status);
    case 404:
    case 410:
      throw failed('git-not-a-repository', `the server knows no Git repository there (${status})`, status);
    default:
      break;
  }
  const hint = headers.location === undefined ? '' : ' and redirects; configure the final URL';
  throw failed('git-unreachable', `the server answers ${status}${hint}`, status);
}

function serverRefusal(complaint: string): Failure {
  return new Failure(codeOf(complaint), `the server says: ${complaint}`, { data: { complaint } });
}

/** Selects the code by the error text of upload-pack (`not our ref` for a refused or missing id) or of git-daemon. */
function codeOf(complaint: string): GitCode {
  if (complaint.includes('not our ref')) return 'git-ref-not-found';
  return /no such repository|not exported/.test(complaint) ? 'git-not-a-repository' : 'git-protocol-error';
}

function unsupportedObjects(): Failure {
  return new Failure('git-unsupported-repository', 'only repositories with SHA-1 object names are read');
}

function failed(code: GitCode, says: string, status: number): Failure {
  return new Failure(code, says, { data: { status }, retryable: status === 429 || status >= 500 });
}

export async function collectBytes(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function* streamOnce(bytes: Buffer): AsyncIterableIterator<Uint8Array> {
  yield bytes;
}
