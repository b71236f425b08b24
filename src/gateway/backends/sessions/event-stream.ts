// Writes one stream of server-sent events to a client. Numbers the events, stores them for a client that reconnects,
// and bounds the memory for a client that reads slowly.

import { formatEvent } from '../../wire/sse.ts';
import type { Answer, BackendFault } from '../backend.ts';
import { createRing, type Ring, type RingBounds } from './ring.ts';

export interface EventStreamParts {
  /** Prefix of the event ids of this stream. The number of the event follows. */
  readonly idPrefix: string;
  readonly bounds: RingBounds;
  /** Returns monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Called when the client stops reading, reads again, or has disconnected. */
  readonly flowChanged: () => void;
}

export interface EventStream {
  push(message: Buffer): void;
  /**
   * Sends an event without a message. The id of the event lets a client reconnect before the first message (MCP
   * 2025-11-25, Transports).
   */
  prime(): void;
  /** Sends the events from number `from` on to this client. The caller has already sent the head of the answer. */
  attach(answer: Answer, from: number): void;
  /** Detaches a client that has disconnected. The events stay stored. */
  detach(answer: Answer): void;
  /** Continues for a client that can accept more bytes. */
  drained(answer: Answer): void;
  /** Ends the stream once the client has received all stored events. */
  end(): void;
  /** Ends the client's answer with a fault. The events stay stored. */
  drop(fault: BackendFault): void;
  /** Sends a comment if nothing was sent since the last call of `keepAlive`. */
  keepAlive(): void;
  attached(): boolean;
  ended(): boolean;
  /** Returns the monotonic time since which the client has not read. undefined while the client reads. */
  blockedSince(): number | undefined;
  /** Returns the size of all stored events in bytes. */
  bytes(): number;
  next(): number;
}

export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

export const READS_TOO_SLOWLY: BackendFault = {
  reason: 'closed',
  message: 'the stream was closed because the client reads it too slowly',
};

const ELSEWHERE: BackendFault = { reason: 'closed', message: 'the stream continues on another connection' };

/** Time in milliseconds after which a client reconnects. */
const RETRY = 1000;

interface State {
  readonly parts: EventStreamParts;
  readonly ring: Ring;
  reader: Answer | undefined;
  /** Number of the next event for the client. `waiting` is the number of bytes from this event on. */
  cursor: number;
  waiting: number;
  blockedAt: number | undefined;
  over: boolean;
  quiet: boolean;
}

export function createEventStream(parts: EventStreamParts): EventStream {
  const ring = createRing(parts.bounds);
  const state: State = {
    ...{ parts, ring, reader: undefined, cursor: 0, waiting: 0 },
    ...{ blockedAt: undefined, over: false, quiet: false },
  };
  return {
    push: (message) => addEvent(state, formatMessage(`${parts.idPrefix}${ring.next()}`, message)),
    prime: () => addEvent(state, Buffer.from(`id: ${parts.idPrefix}${ring.next()}\nretry: ${RETRY}\ndata: \n\n`)),
    attach(answer, from) {
      dropReader(state, ELSEWHERE);
      state.reader = answer;
      state.cursor = Math.max(from, ring.first());
      for (let number = state.cursor; number < ring.next(); number += 1) state.waiting += ring.at(number)?.length ?? 0;
      flush(state);
    },
    detach(answer) {
      if (state.reader === answer) leave(state);
    },
    drained(answer) {
      if (state.reader !== answer) return;
      freeReader(state);
      flush(state);
      trim(state);
    },
    end() {
      state.over = true;
      flush(state);
    },
    drop: (fault) => dropReader(state, fault),
    keepAlive() {
      const { quiet, reader, blockedAt } = state;
      if (quiet && blockedAt === undefined && reader?.data(KEEP_ALIVE) === false) blockReader(state);
      state.quiet = true;
    },
    attached: () => state.reader !== undefined,
    ended: () => state.over,
    blockedSince: () => state.blockedAt,
    bytes: ring.bytes,
    next: ring.next,
  };
}

function addEvent(state: State, event: Buffer): void {
  const { ring, parts } = state;
  if (state.over) return;
  // The size of the new event is not counted. Therefore a single large event never ends a stream.
  const full = state.waiting > parts.bounds.ringBytes || ring.next() - state.cursor > parts.bounds.ringEvents;
  if (state.blockedAt !== undefined && full) dropReader(state, READS_TOO_SLOWLY);
  state.quiet = false;
  ring.push(event);
  if (state.reader !== undefined) state.waiting += event.length;
  flush(state);
  trim(state);
}

/**
 * Deletes stored events. Keeps the newest event of a disconnected client regardless of its size, because the event may
 * be the response.
 */
function trim({ ring, reader, cursor }: State): void {
  ring.trim(reader === undefined ? ring.next() - 1 : cursor);
}

function flush(state: State): void {
  const { ring } = state;
  while (state.reader !== undefined && state.blockedAt === undefined && state.cursor < ring.next()) {
    const event = ring.at(state.cursor);
    state.cursor += 1;
    if (event === undefined) continue;
    state.waiting -= event.length;
    if (!state.reader.data(event)) blockReader(state);
  }
  const finished = state.reader;
  if (finished === undefined || !state.over || state.cursor < ring.next()) return;
  leave(state);
  finished.end();
}

function blockReader(state: State): void {
  if (state.blockedAt !== undefined || state.reader === undefined) return;
  state.blockedAt = state.parts.monotonic();
  state.parts.flowChanged();
}

function freeReader(state: State): void {
  if (state.blockedAt === undefined) return;
  state.blockedAt = undefined;
  state.parts.flowChanged();
}

function leave(state: State): void {
  state.reader = undefined;
  state.waiting = 0;
  freeReader(state);
}

function dropReader(state: State, fault: BackendFault): void {
  const dropped = state.reader;
  if (dropped === undefined) return;
  leave(state);
  dropped.fail(fault);
}

export function formatMessage(id: string | undefined, data: Buffer): Buffer {
  return formatEvent({ type: 'message', id, data });
}
