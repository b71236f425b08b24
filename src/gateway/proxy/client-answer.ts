// Writes the answer to one request of a client over node:http. Applies back-pressure, keeps quiet streams open with
// comments, and sends faults as JSON-RPC errors.

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer, BackendFault } from '../backends/backend.ts';
import { isEventStream } from '../wire/headers.ts';
import type { MessageId } from '../wire/message.ts';
import { formatComment } from '../wire/sse.ts';
import { faultRefusal, refusalBody } from './faults.ts';
import type { ProxyClock } from './ports.ts';

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

export interface ClientAnswerOptions {
  readonly response: ServerResponse;
  /** Headers of every answer (request id, CORS). Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the request, for the JSON-RPC error of a fault. */
  readonly id?: MessageId;
  /** Converts the server's headers to headers for the client. */
  readonly shownHeaders: (headers: HeaderValues) => OutgoingHttpHeaders;
  readonly keepAliveMs: number;
  readonly clock: Pick<ProxyClock, 'every' | 'atTurnEnd'>;
  /** Called once, when the whole answer was passed to the connection or the answer failed with `fault`. */
  readonly ended: (fault?: BackendFault) => void;
}

export interface ClientAnswer extends Answer {
  /** Sets the flow that sends the answer. When the client reads again, the flow is resumed. */
  feed(flow: { resume(): void }): void;
  /** Ends the answer because the client has disconnected. Writes no more bytes, and calls `ended`. */
  abandon(): void;
  finished(): boolean;
}

const CLIENT_GONE: BackendFault = { reason: 'closed', message: 'the client closed the connection' };

export function createClientAnswer(options: ClientAnswerOptions): ClientAnswer {
  const { response, clock } = options;
  let comments: Comments | undefined;
  let finished = false;
  let waiting = false;
  let fed: { resume(): void } | undefined;
  /** Content-Length of the body. NaN for a stream or an unknown length, and after the first of several chunks. */
  let whole = Number.NaN;
  /** True if the whole body was sent, or will be sent at the end of this turn of the event loop. */
  let leaves = false;
  let beginning: Beginning | undefined;

  function finish(fault?: BackendFault): boolean {
    if (finished) return false;
    finished = true;
    comments?.stop();
    options.ended(fault);
    return true;
  }

  function beginStream(): void {
    comments = createComments(options);
    beginning = holdBeginning(options, (held) => {
      if (!finished) comments?.start();
      else if (held) response.end();
    });
  }

  return {
    finished: () => finished,
    head(status, headers) {
      if (finished) return;
      const shown = options.shownHeaders(headers);
      whole = Number(shown['content-length']);
      response.writeHead(status, { ...shown, ...options.headers });
      if (isEventStream(headers['content-type'])) beginStream();
    },
    data(chunk) {
      if (finished || leaves) return true;
      comments?.saw(chunk);
      if (chunk.length === whole) {
        leaves = true;
        clock.atTurnEnd(() => endWhole(response, chunk));
        return true;
      }
      whole = Number.NaN;
      if (response.write(chunk)) return true;
      if (!waiting) {
        response.once('drain', () => {
          waiting = false;
          fed?.resume();
        });
      }
      waiting = true;
      return false;
    },
    end() {
      if (finish() && !leaves && beginning?.isHeld() !== true) response.end();
    },
    fail(fault) {
      if (finished) return;
      beginning?.letGo();
      if (!response.headersSent) sendFault(options, fault);
      else if (!leaves) response.destroy();
      finish(fault);
    },
    feed(flow) {
      fed = flow;
    },
    abandon: () => void finish(CLIENT_GONE),
  };
}

/**
 * The first bytes of a stream. The proxy holds them until the end of this turn of the event loop: a short stream is
 * complete by then.
 */
interface Beginning {
  isHeld(): boolean;
  letGo(): void;
}

/** Holds the first bytes. At the end of the turn, calls `turnEnds`, with true if the bytes are still held. */
function holdBeginning({ response, clock }: ClientAnswerOptions, turnEnds: (held: boolean) => void): Beginning {
  let held: Socket | null = response.socket;
  // Corks the socket, since a corked response would write its last chunk before the held chunks.
  held?.cork();
  response.flushHeaders();
  const beginning = {
    isHeld: () => held !== null,
    letGo() {
      held?.uncork();
      held = null;
    },
  };
  clock.atTurnEnd(() => {
    turnEnds(beginning.isHeld());
    beginning.letGo();
  });
  return beginning;
}

interface Comments {
  start(): void;
  saw(chunk: Buffer): void;
  stop(): void;
}

const KEEP_ALIVE = formatComment('keep-alive');

function createComments({ response, clock, keepAliveMs }: ClientAnswerOptions): Comments {
  /** Last bytes of the stream. Comments are written only after a complete event. */
  let tail: Buffer = EVENT_END;
  let moved = false;
  let stop: (() => void) | undefined;

  function look(): void {
    if (!moved && endsEvent(tail) && response.writableLength === 0) response.write(KEEP_ALIVE);
    moved = false;
  }

  return {
    start() {
      stop = clock.every(keepAliveMs, look);
    },
    saw(chunk) {
      moved = true;
      tail =
        chunk.length < TAIL_BYTES ? Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES) : chunk.subarray(-TAIL_BYTES);
    },
    stop: () => stop?.(),
  };
}

/** Node.js writes texts up to this size without an allocation. */
const TEXT_BYTES_MAX = 16_384;

/**
 * Sends a short body as Latin-1 text (one character per byte), so that head and body leave in one write. Most answers
 * have one chunk.
 */
function endWhole(response: ServerResponse, body: Buffer): void {
  if (body.length > TEXT_BYTES_MAX) response.end(body);
  else response.end(body.toString('latin1'), 'latin1');
}

function sendFault({ response, id, headers }: ClientAnswerOptions, fault: BackendFault): void {
  const refusal = faultRefusal(fault);
  const body = refusalBody(refusal, id);
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
    ...refusal.headers,
  });
  response.end(body);
}

const LF = 0x0a;
const CR = 0x0d;
/** Bytes of `\r\n\r\n`, the longest end of an event. */
const TAIL_BYTES = 4;
const EVENT_END = Buffer.from('\n\n');

/** Returns whether the bytes end with an empty line, which ends an event (HTML, Server-sent events). */
function endsEvent(bytes: Buffer): boolean {
  const last = bytes[bytes.length - 1];
  const before = bytes[bytes.length - 2];
  const third = bytes[bytes.length - 3];
  if (last === LF) return before === LF || (before === CR && (third === LF || third === CR));
  return last === CR && (before === CR || before === LF);
}
