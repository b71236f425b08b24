// Reads a list of the server before the proxy decides on a message: policies need the annotations of tools, and the
// tools lock needs the definition. The rules read the definitions from the answers. If the list cannot be read
// completely, a message that needs annotations or definitions is refused. Otherwise a policy such as `forbid ... when {
// resource has destructiveHint && resource.destructiveHint }` would not apply.

import { isObject } from '#std/json.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backends/backend.ts';
import type { BackendClock } from '../../backends/ports.ts';
import type { LockReading } from '../../gate/tools-lock/keeper.ts';
import { HEADERS, isEventStream } from '../../wire/headers.ts';
import type { Message, Span } from '../../wire/message.ts';
import { methodOfList } from '../../wire/methods.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';
import { createEventSplitter } from '../../wire/sse.ts';
import { type ExchangeWorld, type ListNeeded, prepareExchange } from '../exchange.ts';
import {
  CLIENT_CLOSED,
  faultRefusal,
  HINTS_UNREADABLE,
  LOCK_UNREADABLE,
  type Refusal,
  sessionUnknown,
} from '../faults.ts';
import type { Incoming } from '../incoming.ts';
import type { NeededList } from '../rules.ts';

export interface ListAsking {
  readonly world: ExchangeWorld;
  /** Opens an exchange in the same session. */
  readonly open: (exchange: Exchange, answer: Answer) => Pick<Flow, 'abort'>;
  /** The request that waits for the list. */
  readonly incoming: Incoming;
  readonly needed: ListNeeded;
  readonly clock: Pick<BackendClock, 'after' | 'random'>;
}

/** Why the message cannot be decided. `detail` is for the operator. */
interface ListFailure {
  readonly refusal: Refusal;
  readonly detail?: string;
}

const PAGES_MAX = 200;
/** Time limit for all pages together. */
const READING_MS = 30_000;
const ID_BYTES = 16;

/** Reading of the list, or why the message cannot be decided. */
export type ListRead = ListFailure | { readonly refusal?: undefined; readonly reading: LockReading | undefined };

/**
 * Reads all pages, and calls `done` once. The returned function cancels the reading when the client has disconnected.
 */
export function readNeeded(asking: ListAsking, done: (read: ListRead) => void): () => void {
  const { needed, world } = asking;
  const reading = world.rules.beginReading(needed.list, needed.scope);
  let page = 0;
  let flow: Pick<Flow, 'abort'> | undefined;
  let settled = false;

  function settle(failure?: ListFailure): void {
    if (settled) return;
    settled = true;
    stopTimer();
    flow?.abort();
    if (failure === undefined) reading?.end();
    else reading?.fail();
    // If only names are needed, the rules can decide without the list, by the name in the call.
    const matters = needed.need !== 'names' || failure?.refusal === CLIENT_CLOSED;
    done(failure !== undefined && matters ? failure : { reading });
  }

  function readPage(cursor: string | undefined): void {
    page += 1;
    const current = page;
    const opened = openPage({ ...asking, reading }, cursor, (read) => {
      if (settled || current !== page) return;
      if ('refusal' in read) settle(read);
      else if (read.next === undefined) settle();
      else if (page >= PAGES_MAX) settle(listFailure(needed, `it has more than ${PAGES_MAX} pages`));
      else readPage(read.next);
    });
    // If the answer came at once, the next page is already being read.
    if (current === page) flow = opened;
  }

  const stopTimer = asking.clock.after(READING_MS, () => settle(listFailure(needed, 'it did not end in time')));
  readPage(undefined);
  return () => settle({ refusal: CLIENT_CLOSED });
}

function listFailure({ need, list }: NeededList, detail: string): ListFailure {
  const refusal = need === 'lock' ? LOCK_UNREADABLE : HINTS_UNREADABLE;
  return { refusal, detail: `the list of ${list} could not be read: ${detail}` };
}

/** Cursor of the next page (undefined at the end of the list), or a failure. */
type PageRead = { readonly next: string | undefined } | ListFailure;

function openPage(
  { world, open, incoming, needed, clock, reading }: ListAsking & { readonly reading: LockReading | undefined },
  cursor: string | undefined,
  read: (page: PageRead) => void,
): Pick<Flow, 'abort'> | undefined {
  // Random, because servers refuse an id that another request in flight uses.
  const id = JSON.stringify(`skep-${clock.random(ID_BYTES).toString('base64url')}`);
  const method = methodOfList(needed.list);
  const body = listRequest(incoming.body, needed.message, { id, method, cursor });
  const headers = { ...incoming.headers };
  delete headers[HEADERS.name];
  if (headers[HEADERS.method] !== undefined) headers[HEADERS.method] = method;
  const prepared = prepareExchange(world, { ...incoming, headers, body, listAsked: true, reading });
  if (prepared.refusal !== undefined || prepared.needsList !== undefined) {
    read(prepared.refusal === undefined ? listFailure(needed, 'it depends on itself') : { refusal: prepared.refusal });
    return undefined;
  }
  const { exchange, change } = prepared;
  const answer = readPageAnswer({ messageBytes: world.messageBytes, id, session: exchange.session, needed }, read);
  return open(exchange, change === undefined ? answer : change(answer));
}

/**
 * Builds the request. Copies `_meta` of the waiting message, because in MCP 2026-07-28 `_meta` contains the revision
 * and the client.
 */
function listRequest(
  body: Buffer | undefined,
  message: Message,
  { id, method, cursor }: { readonly id: string; readonly method: string; readonly cursor: string | undefined },
): Buffer {
  const meta = message.kind === 'response' ? undefined : message.meta?.span;
  const params = [
    ...(meta === undefined || body === undefined ? [] : [`"_meta":${bytesText(body, meta)}`]),
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
  ];
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params.join(',')}}}`);
}

function bytesText(body: Buffer, { start, end }: Span): string {
  return body.toString('utf8', start, end);
}

interface Expected {
  readonly messageBytes: number;
  /** JSON text of the request id. */
  readonly id: string;
  readonly session: string | undefined;
  readonly needed: NeededList;
}

/** Returns an answer that passes the first response to the request to `read`. */
function readPageAnswer({ messageBytes, id, session, needed }: Expected, read: (page: PageRead) => void): Answer {
  let finished = false;
  let push: (chunk: Buffer) => void = () => undefined;
  const chunks: Buffer[] = [];

  function finish(page: PageRead): void {
    if (finished) return;
    finished = true;
    read(page);
  }

  function take(bytes: Buffer): void {
    const page = pageIn(bytes, id, needed);
    if (page !== undefined) finish(page);
  }

  return {
    head(status, headers) {
      if (status === 404 && session !== undefined) finish({ refusal: sessionUnknown() });
      else if (status >= 300) finish(listFailure(needed, `the server answered with status ${status}`));
      else if (isEventStream(headers['content-type'])) {
        const handlers = {
          event: ({ data }: { readonly data: Buffer }) => take(data),
          fault: () => finish(listFailure(needed, 'an event is too large')),
        };
        push = createEventSplitter({ maxEventBytes: messageBytes }, handlers).push;
      } else push = (chunk) => chunks.push(chunk);
    },
    data(chunk) {
      push(chunk);
      return true;
    },
    end() {
      if (chunks.length > 0) take(Buffer.concat(chunks));
      finish(listFailure(needed, 'the answer had no response'));
    },
    fail: (fault) => finish(faultFailure(needed, fault)),
  };
}

/** Returns the page. Returns undefined for other messages on the same stream. */
function pageIn(bytes: Buffer, id: string, needed: NeededList): PageRead | undefined {
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.id?.json !== id) return undefined;
  const { result } = scanned.message;
  if (result === undefined) return listFailure(needed, 'the server answered with an error');
  const value = readValue(bytes, result);
  const next = isObject(value) ? value.nextCursor : undefined;
  if (next === undefined || next === null) return { next: undefined };
  return typeof next === 'string' ? { next } : listFailure(needed, 'its cursor is not a text');
}

/** Faults that the client can resolve, for example by a new login. */
const FOR_THE_CLIENT: ReadonlySet<BackendFault['reason']> = new Set([
  'busy',
  'forbidden',
  'session-unknown',
  'unauthorized',
]);

function faultFailure(needed: NeededList, fault: BackendFault): ListFailure {
  if (FOR_THE_CLIENT.has(fault.reason)) return { refusal: faultRefusal(fault), detail: fault.detail };
  return listFailure(needed, fault.detail ?? fault.message);
}
