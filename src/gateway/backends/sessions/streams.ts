// Holds all event streams of one session: answers to calls, streams on which the client listens, and events of both
// that are stored for a client that comes back.

import type { Answer } from '../backend.ts';
import { createEventStream, type EventStream, READS_TOO_SLOWLY } from './event-stream.ts';
import type { SessionLimits } from './limits.ts';
import type { DropReason } from './observer.ts';

export interface StreamsParts {
  readonly limits: SessionLimits;
  readonly replica: string;
  readonly monotonic: () => number;
  readonly dropped: (reason: DropReason) => void;
  /** Receives the JSON text of the id of a server request that can no longer reach a client. */
  readonly lost: (id: string) => void;
  /** Notes that a stream that answers a call was blocked or released. */
  readonly flowChanged: () => void;
}

export interface Streams {
  /** Opens a stream for the answer to a call. */
  open(): EventStream;
  /**
   * Opens a stream for a client that listens, beginning with the waiting messages. The head of the answer must have
   * been sent.
   */
  listen(answer: Answer, prime: boolean): EventStream;
  /** Returns the stream and the number of the event that an event id names, or undefined if the event is not stored. */
  find(eventId: string): { readonly stream: EventStream; readonly event: number } | undefined;
  /** Continues a stream for a client. */
  attach(stream: EventStream, answer: Answer, from: number): void;
  /**
   * Sends to a listening client, or stores the message for one. `id` is set if the message is a request of the server.
   */
  push(message: Buffer, id: string | undefined): void;
  /** Returns whether a client listens. */
  hasListener(): boolean;
  /** Returns whether a client reads the answer to a call slowly. */
  blocked(): boolean;
  /** Returns whether any client is connected. */
  attached(): boolean;
  tick(now: number): void;
  end(): void;
}

interface Entry {
  readonly number: number;
  readonly stream: EventStream;
  readonly listener: boolean;
  /** Time since which the stream has no client and no call, in monotonic milliseconds. */
  keptSince: number | undefined;
}

interface Waiting {
  readonly message: Buffer;
  readonly id: string | undefined;
}

interface State {
  readonly parts: StreamsParts;
  readonly entries: Map<number, Entry>;
  readonly queue: Waiting[];
  queueBytes: number;
  count: number;
}

export function createStreams(parts: StreamsParts): Streams {
  const { limits, replica } = parts;
  const entries = new Map<number, Entry>();
  const state: State = { parts, entries, queue: [], queueBytes: 0, count: 0 };
  return {
    open: () => createEntry(state, false).stream,
    listen(answer, prime) {
      const open = listeners(state);
      if (open.length >= limits.listeners) open[0]?.stream.drop(TOO_MANY);
      const { stream } = createEntry(state, true);
      stream.attach(answer, 0);
      if (prime) stream.prime();
      flushQueue(state, stream);
      return stream;
    },
    find: (eventId) => findEvent(entries, replica, eventId),
    attach(stream, answer, from) {
      stream.attach(answer, from);
      const entry = [...entries.values()].find((each) => each.stream === stream);
      if (entry !== undefined) entry.keptSince = undefined;
      if (entry?.listener === true && stream.attached()) flushQueue(state, stream);
    },
    push(message, id) {
      const newest = listeners(state).at(-1);
      if (newest === undefined) enqueue(state, { message, id });
      else newest.stream.push(message);
    },
    hasListener: () => listeners(state).length > 0,
    blocked: () => [...entries.values()].some((each) => !each.listener && each.stream.blockedSince() !== undefined),
    attached: () => [...entries.values()].some(({ stream }) => stream.attached()),
    tick(now) {
      for (const { stream } of entries.values()) {
        const since = stream.blockedSince();
        if (since !== undefined && now - since > limits.stallMs) stream.drop(READS_TOO_SLOWLY);
        stream.keepAlive();
      }
      forgetKept(entries, limits, now);
    },
    end() {
      for (const { stream } of entries.values()) stream.end();
      entries.clear();
      state.queue.length = 0;
    },
  };
}

function createEntry(state: State, listener: boolean): Entry {
  const { limits, replica, monotonic, flowChanged } = state.parts;
  const number = state.count;
  state.count += 1;
  const stream = createEventStream({
    idPrefix: `${replica}.${number}.`,
    bounds: limits,
    monotonic,
    flowChanged: listener ? ignore : flowChanged,
  });
  const entry: Entry = { number, stream, listener, keptSince: undefined };
  forgetKept(state.entries, limits, monotonic());
  state.entries.set(number, entry);
  return entry;
}

function listeners({ entries }: State): Entry[] {
  return [...entries.values()].filter(({ listener, stream }) => listener && stream.attached());
}

function flushQueue(state: State, stream: EventStream): void {
  state.queueBytes = 0;
  for (const { message } of state.queue.splice(0)) stream.push(message);
}

function enqueue(state: State, waiting: Waiting): void {
  const { queue, parts } = state;
  queue.push(waiting);
  state.queueBytes += waiting.message.length;
  const { queueMessages, queueBytes } = parts.limits;
  while (queue.length > queueMessages || (state.queueBytes > queueBytes && queue.length > 1)) {
    const oldest = queue.shift();
    state.queueBytes -= oldest?.message.length ?? 0;
    parts.dropped('queue-full');
    if (oldest?.id !== undefined) parts.lost(oldest.id);
  }
}

const TOO_MANY = { reason: 'closed', message: 'the stream was closed because the client opened too many' } as const;

function ignore(): void {
  // A slow listener does not stall calls: the stream has a bound of its own.
}

/** Finds an event by its id, `<replica>.<stream>.<event>`. */
function findEvent(entries: ReadonlyMap<number, Entry>, replica: string, eventId: string) {
  const [, stream, event] = eventId.startsWith(`${replica}.`)
    ? (/^(\d{1,15})\.(\d{1,15})$/.exec(eventId.slice(replica.length + 1)) ?? [])
    : [];
  const entry = stream === undefined ? undefined : entries.get(Number(stream));
  if (entry === undefined || Number(event) >= entry.stream.next()) return undefined;
  return { stream: entry.stream, event: Number(event) };
}

/**
 * Forgets streams that have been without a client too long or are too many. Streams of calls in flight stay, with or
 * without a client.
 */
function forgetKept(entries: Map<number, Entry>, limits: SessionLimits, now: number): void {
  const kept = [...entries.values()].filter(
    ({ stream, listener }) => !stream.attached() && (listener || stream.ended()),
  );
  let streams = kept.length;
  let bytes = kept.reduce((sum, { stream }) => sum + stream.bytes(), 0);
  for (const entry of kept) {
    entry.keptSince ??= now;
    const old = now - entry.keptSince > limits.keptMs;
    if (!old && streams <= limits.keptStreams && bytes <= limits.keptBytes) continue;
    entries.delete(entry.number);
    streams -= 1;
    bytes -= entry.stream.bytes();
  }
}
