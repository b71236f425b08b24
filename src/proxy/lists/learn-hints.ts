// Reads the server's list of tools on behalf of a caller, so that policies know the hints of a tool before its first call.
// Knows nothing about policies: the rules learn from the answers as they pass.

import type { Answer, Exchange } from '../../backends/backend.ts';
import { HEADERS, isEventStream } from '../../mcp/headers.ts';
import type { Message, Span } from '../../mcp/message.ts';
import { readValue, scanMessage } from '../../mcp/scan.ts';
import { createEventSplitter } from '../../mcp/sse.ts';
import { isObject } from '../../std/json.ts';
import { type ExchangeWorld, type Incoming, prepareExchange } from '../exchange.ts';

export interface HintsAsking {
  readonly world: ExchangeWorld;
  /** Opens an exchange of the same session. */
  readonly open: (exchange: Exchange, answer: Answer) => void;
  /** The request that has to wait. */
  readonly incoming: Incoming;
  readonly message: Message;
}

/** A server with more pages is read no further: its later tools have no hints. */
const PAGES_MAX = 50;

/** Calls back when all pages were read, or one could not be. */
export function learnHints(asking: HintsAsking, done: () => void, cursor?: string, page = 1): void {
  const { world, open, incoming, message } = asking;
  const body = listRequest(incoming.body, message, cursor);
  const headers = { ...incoming.headers };
  delete headers[HEADERS.name];
  if (headers[HEADERS.method] !== undefined) headers[HEADERS.method] = 'tools/list';
  const prepared = prepareExchange(world, { ...incoming, headers, body, hintsAsked: true });
  if (prepared.refusal !== undefined || prepared.needsHints !== undefined) {
    done();
    return;
  }
  const answer = readCursor(world.messageBytes, (next) => {
    if (next === undefined || page >= PAGES_MAX) done();
    else learnHints(asking, done, next, page + 1);
  });
  open(prepared.exchange, prepared.change === undefined ? answer : prepared.change(answer));
}

/** With the `_meta` of the request that waits: in the stateless era it says which revision and client it is. */
function listRequest(body: Buffer | undefined, message: Message, cursor: string | undefined): Buffer {
  const meta = message.kind === 'response' ? undefined : message.meta?.span;
  const params = [
    ...(meta === undefined || body === undefined ? [] : [`"_meta":${bytesText(body, meta)}`]),
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
  ];
  return Buffer.from(`{"jsonrpc":"2.0","id":"skep-tools","method":"tools/list","params":{${params.join(',')}}}`);
}

function bytesText(body: Buffer, { start, end }: Span): string {
  return body.toString('utf8', start, end);
}

/** Calls back with `nextCursor` of the list, once; undefined also where the answer is no list. */
function readCursor(messageBytes: number, done: (cursor: string | undefined) => void): Answer {
  let cursor: string | undefined;
  let finished = false;
  let push: (chunk: Buffer) => void = () => undefined;
  const chunks: Buffer[] = [];

  function learn(message: Buffer): void {
    const scanned = scanMessage(message);
    if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.result === undefined) return;
    const result = readValue(message, scanned.message.result);
    if (isObject(result) && typeof result.nextCursor === 'string') cursor = result.nextCursor;
  }

  function finish(): void {
    if (finished) return;
    finished = true;
    done(cursor);
  }

  return {
    head(_status, headers) {
      if (isEventStream(headers['content-type'])) {
        const handlers = { event: ({ data }: { readonly data: Buffer }) => learn(data), fault: () => undefined };
        push = createEventSplitter({ maxEventBytes: messageBytes }, handlers).push;
      } else push = (chunk) => chunks.push(chunk);
    },
    data(chunk) {
      push(chunk);
      return true;
    },
    end() {
      if (chunks.length > 0) learn(Buffer.concat(chunks));
      finish();
    },
    fail: finish,
  };
}
