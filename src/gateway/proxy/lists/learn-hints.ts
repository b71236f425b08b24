// Reads the server's list of tools on behalf of a caller, so that policies know the hints of a tool before its first call. The
// rules learn from the answers as they pass. A list that cannot be read to its end refuses the call: a policy such as
// `forbid ... when { resource has destructiveHint && resource.destructiveHint }` would let it pass without hints.

import { isObject } from '#std/json.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backends/backend.ts';
import type { BackendClock } from '../../backends/ports.ts';
import { HEADERS, isEventStream } from '../../wire/headers.ts';
import type { Message, Span } from '../../wire/message.ts';
import { readValue, scanMessage } from '../../wire/scan.ts';
import { createEventSplitter } from '../../wire/sse.ts';
import { type ExchangeWorld, type ListNeeded, prepareExchange } from '../exchange.ts';
import { CLIENT_CLOSED, faultRefusal, HINTS_UNREADABLE, type Refusal, sessionUnknown } from '../faults.ts';
import type { Incoming } from '../incoming.ts';

export interface HintsAsking {
  readonly world: ExchangeWorld;
  /** Opens an exchange of the same session. */
  readonly open: (exchange: Exchange, answer: Answer) => Pick<Flow, 'abort'>;
  /** The request that has to wait. */
  readonly incoming: Incoming;
  readonly needed: ListNeeded;
  readonly clock: Pick<BackendClock, 'after' | 'random'>;
}

/** Why the call cannot be decided. `detail` is for the operator. */
export interface HintsFailure {
  readonly refusal: Refusal;
  readonly detail?: string;
}

const PAGES_MAX = 200;
/** For all pages. */
const READING_MS = 30_000;
const ID_BYTES = 16;

/**
 * Calls back once: without a failure if all pages were read. The returned function gives up, because the client has gone.
 */
export function learnHints(asking: HintsAsking, done: (failure: HintsFailure | undefined) => void): () => void {
  let page = 0;
  let flow: Pick<Flow, 'abort'> | undefined;
  let settled = false;

  function settle(failure?: HintsFailure): void {
    if (settled) return;
    settled = true;
    stopTimer();
    flow?.abort();
    // Without the list, a call is decided by the name that it has.
    const matters = asking.needed.need === 'hints' || failure?.refusal === CLIENT_CLOSED;
    done(matters ? failure : undefined);
  }

  function readPage(cursor: string | undefined): void {
    page += 1;
    const current = page;
    const opened = openPage(asking, cursor, (read) => {
      if (settled || current !== page) return;
      if ('refusal' in read) settle(read);
      else if (read.next === undefined) settle();
      else if (page >= PAGES_MAX) settle(hintsFailure(`it has more than ${PAGES_MAX} pages`));
      else readPage(read.next);
    });
    // A page that was answered at once has been followed by others.
    if (current === page) flow = opened;
  }

  const stopTimer = asking.clock.after(READING_MS, () => settle(hintsFailure('it did not end in time')));
  readPage(undefined);
  return () => settle({ refusal: CLIENT_CLOSED });
}

function hintsFailure(detail: string): HintsFailure {
  return { refusal: HINTS_UNREADABLE, detail: `the list of tools could not be read: ${detail}` };
}

/** Result of a page: the cursor of the next page, undefined at the end of the list. */
type PageRead = { readonly next: string | undefined } | HintsFailure;

function openPage(
  { world, open, incoming, needed: { message }, clock }: HintsAsking,
  cursor: string | undefined,
  read: (page: PageRead) => void,
): Pick<Flow, 'abort'> | undefined {
  // Nobody can have a request of this id in flight, which would make the server refuse this one.
  const id = JSON.stringify(`skep-${clock.random(ID_BYTES).toString('base64url')}`);
  const body = listRequest(incoming.body, message, id, cursor);
  const headers = { ...incoming.headers };
  delete headers[HEADERS.name];
  if (headers[HEADERS.method] !== undefined) headers[HEADERS.method] = 'tools/list';
  const prepared = prepareExchange(world, { ...incoming, headers, body, listAsked: true });
  if (prepared.refusal !== undefined || prepared.needsList !== undefined) {
    read(prepared.refusal === undefined ? hintsFailure('it needs itself') : { refusal: prepared.refusal });
    return undefined;
  }
  const { exchange, change } = prepared;
  const answer = readPageAnswer({ messageBytes: world.messageBytes, id, session: exchange.session }, read);
  return open(exchange, change === undefined ? answer : change(answer));
}

/** With the `_meta` of the request that waits: in the stateless era it says which revision and client it is. */
function listRequest(body: Buffer | undefined, message: Message, id: string, cursor: string | undefined): Buffer {
  const meta = message.kind === 'response' ? undefined : message.meta?.span;
  const params = [
    ...(meta === undefined || body === undefined ? [] : [`"_meta":${bytesText(body, meta)}`]),
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
  ];
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{${params.join(',')}}}`);
}

function bytesText(body: Buffer, { start, end }: Span): string {
  return body.toString('utf8', start, end);
}

interface Expected {
  readonly messageBytes: number;
  /** JSON text. */
  readonly id: string;
  readonly session: string | undefined;
}

/** Calls back once, with the first response to the request. */
function readPageAnswer({ messageBytes, id, session }: Expected, read: (page: PageRead) => void): Answer {
  let finished = false;
  let push: (chunk: Buffer) => void = () => undefined;
  const chunks: Buffer[] = [];

  function finish(page: PageRead): void {
    if (finished) return;
    finished = true;
    read(page);
  }

  function take(bytes: Buffer): void {
    const page = pageIn(bytes, id);
    if (page !== undefined) finish(page);
  }

  return {
    head(status, headers) {
      if (status === 404 && session !== undefined) finish({ refusal: sessionUnknown() });
      else if (status >= 300) finish(hintsFailure(`the server answered with status ${status}`));
      else if (isEventStream(headers['content-type'])) {
        const handlers = {
          event: ({ data }: { readonly data: Buffer }) => take(data),
          fault: () => finish(hintsFailure('an event is too large')),
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
      finish(hintsFailure('the answer had no response'));
    },
    fail: (fault) => finish(faultFailure(fault)),
  };
}

/** Undefined for other messages, which may come on the same stream. */
function pageIn(bytes: Buffer, id: string): PageRead | undefined {
  const scanned = scanMessage(bytes);
  if (!scanned.ok || scanned.message.kind !== 'response' || scanned.message.id?.json !== id) return undefined;
  const { result } = scanned.message;
  if (result === undefined) return hintsFailure('the server answered with an error');
  const value = readValue(bytes, result);
  const next = isObject(value) ? value.nextCursor : undefined;
  if (next === undefined || next === null) return { next: undefined };
  return typeof next === 'string' ? { next } : hintsFailure('its cursor is not a text');
}

/** Faults that the client itself can do something about. */
const FOR_THE_CLIENT: ReadonlySet<BackendFault['reason']> = new Set([
  'busy',
  'forbidden',
  'session-unknown',
  'unauthorized',
]);

function faultFailure(fault: BackendFault): HintsFailure {
  if (FOR_THE_CLIENT.has(fault.reason)) return { refusal: faultRefusal(fault), detail: fault.detail };
  return hintsFailure(fault.detail ?? fault.message);
}
