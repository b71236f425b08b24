// Splits a stream of bytes into server-sent events, and formats events (HTML standard, 9.2 Server-sent events).

import { openRemainder } from './remainder.ts';

export interface SseEvent {
  /** Data lines joined by LF, as undecoded bytes. The buffer may share memory with a pushed chunk. */
  readonly data: Buffer;
  /** Id that this event itself has. Ids of earlier events are not carried over. */
  readonly id?: string;
  readonly type?: string;
  /** Reconnection time in milliseconds. */
  readonly retry?: number;
  /** Received bytes including the blank line, for forwarding the event unchanged. */
  readonly raw: Buffer;
}

export interface EventHandlers {
  event(event: SseEvent): void;
  /** Reports a fault. Afterwards the splitter ignores all bytes and calls no handler. */
  fault(reason: 'event-too-large'): void;
  /** Handles each piece of an event that is too large. Without this handler, such an event is a fault. */
  large?(raw: Buffer, isLast: boolean): void;
  /**
   * Handles a block without data, such as comments or a lone id or retry, which is not an event. Needed for forwarding
   * a stream completely.
   */
  silent?(raw: Buffer): void;
}

export interface EventSplitter {
  /** Reads a chunk. The caller must not change the chunk afterwards. */
  push(chunk: Buffer): void;
  /** Ends the stream. Drops an unfinished event, as the standard requires. */
  end(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const LINE_FEED = Buffer.of(LF);
const EVENT_END = Buffer.of(LF, LF);
const LONGEST_FIELD = 5;

export function createEventSplitter(
  { maxEventBytes }: { readonly maxEventBytes: number },
  handlers: EventHandlers,
): EventSplitter {
  const rest = openRemainder();
  /** True if the last byte ended a line. Another line end then ends the event. */
  let atLineStart = true;
  /** True if the last byte was a CR. An LF after the CR belongs to the same line end. */
  let afterCr = false;
  let begun = false;
  let closed = false;
  /** True while the pieces of an event that is too large are passed on. */
  let passing = false;

  function stop(): void {
    closed = true;
    rest.clear();
  }

  function refuse(): void {
    stop();
    handlers.fault('event-too-large');
  }

  function isTooLarge(from: number, to: number): boolean {
    return passing || rest.length() + to - from > maxEventBytes;
  }

  function pass(chunk: Buffer, from: number, to: number, isLast: boolean): void {
    if (handlers.large === undefined) {
      refuse();
      return;
    }
    begun = true;
    passing = !isLast;
    if (rest.length() > 0) handlers.large(rest.take(chunk, from, to), isLast);
    else if (to > from) handlers.large(chunk.subarray(from, to), isLast);
  }

  function finish(chunk: Buffer, from: number, to: number): void {
    if (isTooLarge(from, to)) {
      pass(chunk, from, to, true);
      return;
    }
    const raw = rest.take(chunk, from, to);
    const start = begun ? 0 : markLength(raw);
    begun = true;
    const event = readEvent(raw, start);
    if (event === undefined) handlers.silent?.(raw);
    else handlers.event(event);
  }

  function push(chunk: Buffer): void {
    if (closed || chunk.length === 0) return;
    let line = afterCr && chunk[0] === LF ? 1 : 0;
    // If a CR ended an event, the following LF does not belong to the next event.
    let from = rest.length() === 0 && !passing ? line : 0;
    let fresh = atLineStart;
    let cr = chunk.indexOf(CR, line);
    let lf = chunk.indexOf(LF, line);
    afterCr = false;
    while (line < chunk.length) {
      if (lf !== -1 && lf < line) lf = chunk.indexOf(LF, line);
      if (cr !== -1 && cr < line) cr = chunk.indexOf(CR, line);
      const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
      if (end === -1) break;
      const blank = fresh && end === line;
      line = end + (end === cr && lf === end + 1 ? 2 : 1);
      afterCr = line === chunk.length && chunk[line - 1] === CR;
      fresh = true;
      if (!blank) continue;
      finish(chunk, from, line);
      if (closed) return;
      from = line;
    }
    atLineStart = fresh && line === chunk.length;
    if (isTooLarge(from, chunk.length)) pass(chunk, from, chunk.length, false);
    else rest.keep(chunk, from, chunk.length);
  }

  return { push, end: stop };
}

/** Returns the length of a byte order mark, which is allowed only at the start of a stream. */
function markLength(raw: Buffer): number {
  return raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0;
}

/** Parses the block from `start` on. Returns undefined if the block has no data. */
function readEvent(raw: Buffer, start: number): SseEvent | undefined {
  const pieces: Buffer[] = [];
  let id: string | undefined;
  let type: string | undefined;
  let retry: number | undefined;
  let line = start;
  let cr = raw.indexOf(CR, line);
  let lf = raw.indexOf(LF, line);
  while (line < raw.length) {
    if (lf !== -1 && lf < line) lf = raw.indexOf(LF, line);
    if (cr !== -1 && cr < line) cr = raw.indexOf(CR, line);
    const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
    if (end === -1) break;
    const value = valueStart(raw, line, end);
    switch (fieldAt(raw, line, end)) {
      case 'data':
        pieces.push(raw.subarray(value, end));
        break;
      case 'event':
        type = raw.toString('utf8', value, end);
        break;
      case 'id':
        if (!raw.subarray(value, end).includes(0)) id = raw.toString('utf8', value, end);
        break;
      case 'retry':
        retry = milliseconds(raw.toString('latin1', value, end)) ?? retry;
        break;
      case undefined:
        break;
    }
    line = end + (end === cr && lf === end + 1 ? 2 : 1);
  }
  const [only] = pieces;
  if (only === undefined) return undefined;
  return { data: pieces.length === 1 ? only : joinLines(pieces), id, type, retry, raw };
}

function milliseconds(text: string): number | undefined {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

function joinLines(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [LINE_FEED, piece])));
}

type EventField = 'data' | 'event' | 'id' | 'retry';

const FIELDS: readonly { readonly name: EventField; readonly bytes: Buffer }[] = (
  ['data', 'event', 'id', 'retry'] as const
).map((name) => ({ name, bytes: Buffer.from(name) }));

/**
 * Returns the field of a line. undefined for comments and for fields that the standard does not define. A line without
 * a colon is a field with an empty value.
 */
function fieldAt(raw: Buffer, line: number, end: number): EventField | undefined {
  next: for (const { name, bytes } of FIELDS) {
    const after = line + bytes.length;
    if (after > end || (after < end && raw[after] !== COLON)) continue;
    for (let at = 0; at < bytes.length; at += 1) {
      if (raw[line + at] !== bytes[at]) continue next;
    }
    return name;
  }
  return undefined;
}

/**
 * Returns the position of the field's value. Known field names contain no colon, so the first colon ends the name. One
 * space after the colon is skipped.
 */
function valueStart(raw: Buffer, line: number, end: number): number {
  for (let pos = line; pos < end && pos <= line + LONGEST_FIELD; pos += 1) {
    if (raw[pos] === COLON) return pos + 1 < end && raw[pos + 1] === 0x20 ? pos + 2 : pos + 1;
  }
  return end;
}

export interface OutgoingEvent {
  readonly data: Buffer;
  readonly id?: string;
  readonly type?: string;
  readonly retry?: number;
}

/**
 * Formats an event. Throws if `id` or `type` contains a line end. A CR in the data becomes an LF, because a CR would
 * also end the line.
 */
export function formatEvent({ data, id, type, retry }: OutgoingEvent): Buffer {
  let head = '';
  if (type !== undefined) head += `event: ${oneLine(type)}\n`;
  if (id !== undefined) head += `id: ${oneLine(id)}\n`;
  if (retry !== undefined) head += `retry: ${retry}\n`;
  const start = Buffer.from(`${head}data: `);
  if (!data.includes(LF) && !data.includes(CR)) return Buffer.concat([start, data, EVENT_END]);
  const lines = data.toString('latin1').split(/\r\n|\r|\n/);
  return Buffer.concat([start, Buffer.from(lines.join('\ndata: '), 'latin1'), EVENT_END]);
}

/** Formats a comment, which keeps a connection open and is not an event. */
export function formatComment(text: string): Buffer {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `: ${line}\n`);
  return Buffer.from(`${lines.join('')}\n`);
}

function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new RangeError('the id or type of an event has more than one line');
  return text;
}
