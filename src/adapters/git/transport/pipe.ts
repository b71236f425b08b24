// Converts smart HTTP requests of isomorphic-git to Git's native protocol over a byte stream to git-upload-pack.

import type { Readable, Writable } from 'node:stream';
import type { GitHttpRequest, HttpClient } from 'isomorphic-git';
import { Failure } from '#std/failure.ts';
import { withEmptyRefs } from './pkt-line.ts';
import { type Conversation, checkAnswer, collectBytes, type Endpoint, requestBody, streamOnce } from './transport.ts';

export interface GitStream {
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves after the end of the output: with the failure that ended it early, or undefined. */
  complaint(): Promise<Failure | undefined>;
  /** Ends the stream at once. If `error` is set, later reads fail with `error`. */
  destroy(error?: Error): void;
}

export interface PipeOptions {
  /** Opens a connection. Throws a Failure on error. The signal aborts the attempt. */
  readonly open: (signal: AbortSignal) => Promise<GitStream>;
  /** Maximum bytes of one response. */
  readonly maxPackBytes: number;
  /** Timeout in milliseconds of one exchange. */
  readonly timeoutMs: number;
}

/** isomorphic-git requires a URL. No request is sent to this host. */
const URL_FOR_FORM = 'https://pipe.invalid';
/** Milliseconds in which the server can close the connection after a flush, which requests no objects. */
const GRACE_MS = 2_000;
const FLUSH = Buffer.from('0000');
const SERVICE = Buffer.from('001e# service=git-upload-pack\n0000');

/** A stream from which the list of refs has been read. The server waits for the next request. */
interface Open {
  readonly stream: GitStream;
  readonly advertisement: Buffer;
}

export function pipeEndpoint(options: PipeOptions): Endpoint {
  return { url: URL_FOR_FORM, converse: () => converse(options) };
}

/**
 * Uses one connection for the list of refs and the following request, so that the requested objects match the list. The
 * server closes the connection after its response.
 */
function converse(options: PipeOptions): Conversation {
  let held: Open | undefined;
  const ready = async (): Promise<Open> => {
    const usable = held !== undefined && !held.stream.output.destroyed && !held.stream.output.readableEnded;
    held = held !== undefined && usable ? held : await advertised(options);
    return held;
  };
  const request: HttpClient['request'] = async ({ url, method = 'GET', body }: GitHttpRequest) => {
    const { stream, advertisement } = await ready();
    if (method === 'GET') {
      return { ...OK, url, method, body: streamOnce(withEmptyRefs(Buffer.concat([SERVICE, advertisement]))) };
    }
    held = undefined;
    const payload = requestBody(await collectBytes(body), advertisement.includes(' thin-pack'));
    const answer = await exchanged(options, stream, payload);
    return { ...OK, url, method, body: streamOnce(answer) };
  };
  return { http: { request }, close: () => held && dismiss(held.stream) };
}

/** Ends the conversation with a flush, which requests no object (gitprotocol-pack(5)). */
function dismiss(stream: GitStream): void {
  stream.input.end(FLUSH);
  stream.output.resume();
  const timer = setTimeout(() => stream.destroy(), GRACE_MS);
  stream.output.once('close', () => clearTimeout(timer));
}

const OK = {
  statusCode: 200,
  statusMessage: '',
  headers: { 'content-type': 'application/x-git-upload-pack-advertisement' },
};

async function advertised(options: PipeOptions): Promise<Open> {
  return within(options, async (use, signal) => {
    const stream = use(await opened(options, signal));
    const advertisement = await readUpToFlush(stream, options.maxPackBytes);
    checkAnswer(advertisement, 'GET');
    return { stream, advertisement };
  });
}

async function opened({ open }: PipeOptions, signal: AbortSignal): Promise<GitStream> {
  try {
    return await open(signal);
  } catch (error) {
    if (!(error instanceof Failure) || !error.code.startsWith('outbound-')) throw error;
    const { code, data, retryable } = error;
    const message = typeof data.reason === 'string' ? data.reason : error.message;
    throw new Failure('git-unreachable', message, { data: { ...data, outbound: code }, cause: error, retryable });
  }
}

async function exchanged(options: PipeOptions, stream: GitStream, payload: Buffer): Promise<Buffer> {
  return within(options, async (use) => {
    use(stream).input.write(payload);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream.output) {
      const bytes: Buffer = chunk;
      size += bytes.length;
      if (size > options.maxPackBytes) throw packTooLarge(options);
      chunks.push(bytes);
    }
    const answer = Buffer.concat(chunks);
    checkAnswer(answer, 'POST');
    const complaint = await stream.complaint();
    if (complaint !== undefined) throw complaint;
    return answer;
  });
}

type Use = (stream: GitStream) => GitStream;

/** Enforces the timeout of an exchange. After a failed exchange, the stream is destroyed. */
async function within<T>({ timeoutMs }: PipeOptions, run: (use: Use, signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new Failure('git-unreachable', `no answer within ${timeoutMs} ms`, { retryable: true });
  const attempt = new AbortController();
  let used: GitStream | undefined;
  const timer = setTimeout(() => {
    attempt.abort(late);
    used?.destroy(late);
  }, timeoutMs);
  try {
    return await run((stream) => {
      used = stream;
      return stream;
    }, attempt.signal);
  } catch (error) {
    used?.destroy();
    if (attempt.signal.aborted) throw late;
    if (error instanceof Failure) throw error;
    throw new Failure('git-unreachable', 'connection lost', { cause: error, retryable: true });
  } finally {
    clearTimeout(timer);
  }
}

/** Initial size of the buffer, enough for the refs of most repositories. It is doubled when full. */
const FIRST_ROOM_BYTES = 64 * 1024;

/** Reads pkt-lines up to and including the next flush, after which the server waits. */
async function readUpToFlush(stream: GitStream, maxBytes: number): Promise<Buffer> {
  const { output } = stream;
  let room = Buffer.alloc(FIRST_ROOM_BYTES);
  let bytes = room.subarray(0, 0);
  let at = 0;
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    const filled = bytes.length + chunk.length;
    if (filled > room.length) room = Buffer.concat([bytes], 2 * filled);
    room.set(chunk, bytes.length);
    bytes = room.subarray(0, filled);
    while (at + 4 <= bytes.length) {
      const length = lineLength(bytes, at);
      if (length === 0) return bytes.subarray(0, at + 4);
      // A server sends nothing after `ERR`.
      if (bytes.toString('latin1', at + 4, at + 8) === 'ERR ') checkAnswer(bytes, 'GET');
      if (at + length > bytes.length) break;
      at += length;
    }
    if (bytes.length > maxBytes) throw packTooLarge({ maxPackBytes: maxBytes });
  }
  checkAnswer(bytes, 'GET');
  throw (await stream.complaint()) ?? new Failure('git-protocol-error', 'the server hung up', { retryable: true });
}

function lineLength(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + 4);
  const length = Number.parseInt(digits, 16);
  if (/^[0-9a-f]{4}$/i.test(digits) && (length === 0 || length >= 4)) return length;
  const said = JSON.stringify(bytes.toString('utf8', at, at + 80));
  throw new Failure('git-protocol-error', `the server does not speak Git's protocol but says ${said}`);
}

function packTooLarge({ maxPackBytes: maxBytes }: Pick<PipeOptions, 'maxPackBytes'>): Failure {
  const message = `the answer is larger than ${maxBytes} bytes`;
  return new Failure('git-too-large', message, { data: { maxBytes } });
}
