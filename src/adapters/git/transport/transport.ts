// Sends the smart HTTP requests of isomorphic-git through the guarded outbound client, with credentials, redirects,
// limits, and errors with advice (the caller adds URL and ref).

import type { HttpClient } from 'isomorphic-git';
import { Failure } from '#std/failure.ts';
import type { Outbound, OutboundResponse } from '../../http/outbound.ts';
import type { GitCode } from '../codes.ts';
import { serverError, withCapability, withEmptyRefs } from './pkt-line.ts';

/** A few requests that belong together. */
export interface Conversation {
  readonly http: HttpClient;
  close(): void;
}

/** The URL and the HTTP client with which isomorphic-git reaches a repository, for every transport. */
export interface Endpoint {
  /** URL for isomorphic-git: http or https, without credentials. */
  readonly url: string;
  converse(): Conversation;
}

export interface HttpEndpoint {
  /** Without credentials: it appears in messages. */
  readonly url: string;
  readonly auth?: { readonly username: string; readonly password: () => Promise<string> };
  readonly outbound: Outbound;
  /** Maximum bytes of one answer. */
  readonly maxPackBytes: number;
  /** Milliseconds for one exchange. */
  readonly timeoutMs: number;
}

export function httpEndpoint(endpoint: HttpEndpoint): Endpoint {
  return { url: endpoint.url, converse: () => ({ http: gitHttp(endpoint), close: () => undefined }) };
}

/** Sends credentials from the start: a first request without them would cost one more request each time. */
function gitHttp(endpoint: HttpEndpoint): HttpClient {
  // The target to which the first request was redirected; later requests use it, as in git(1) (`http.followRedirects`).
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

/** Throws for messages that a server sends instead of an answer, and for answers that cannot be read. */
export function checkAnswer(answer: Buffer, method: string): void {
  const complaint = serverError(answer);
  if (complaint !== undefined) throw serverRefusal(complaint);
  if (method === 'GET' && answer.includes('object-format=sha256')) throw unsupportedObjects();
}

/** Refuses the file `info/refs` of a server of plain files, which has a line with id and name for each ref. */
function refuseListOfFiles(answer: Buffer): void {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})\trefs\//.test(answer.toString('latin1', 0, 80))) return;
  throw new Failure(
    'git-transport-unsupported',
    'the server hands out the files of the repository (the "dumb" HTTP protocol), but skep reads only the smart HTTP ' +
      'protocol: serve the repository by git http-backend(1) or a Git host, or use its ssh URL',
  );
}

/**
 * Requests thin packs, whose deltas build on objects that the client has. isomorphic-git never does, so the server
 * would send every file again with each shallow fetch. Fetched packs are completed afterwards (`receivePack`).
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

/** Returns the reason without the URL, which the caller adds, unless a redirect led to another URL. */
function outboundReason({ url }: HttpEndpoint, { data, message }: Failure): string {
  return typeof data.reason === 'string' && String(data.url).startsWith(url) ? data.reason : message;
}

function checkStatus({ auth }: HttpEndpoint, { status, headers }: OutboundResponse): void {
  if (status === 200) return;
  switch (status) {
    case 401:
    // Azure DevOps answers 203 with a sign-in page.
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

/**
 * Recognises the wording of upload-pack for an object that it lacks or does not hand out by name, and of git-daemon.
 */
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
