// Manages the event streams of one session. Streams answer calls or serve GET requests, and their events are stored for
// a client that reconnects.

import type { Answer } from '../backend.ts';
import { createEventStream, type EventStream, READS_TOO_SLOWLY } from './event-stream.ts';
import type { SessionLimits } from './limits.ts';
import type { DropReason } from './observer.ts';

export interface StreamsParts {
  readonly limits: SessionLimits;
  readonly replica: string;
  readonly monotonic: () => number;
  readonly dropped: (reason: DropReason) => void;
  /** Receives the id of a server request that cannot reach a client any more, as JSON text. */
  readonly lost: (id: string) => void;
  /** Called when the client of a call's stream starts or stops reading. */
  readonly flowChanged: () => void;
}

export interface Streams {
  /** Opens a stream for the answer to a call. */
  open(): EventStream;
  /** Opens a GET stream, which begins with the stored messages. The caller has already sent the head of the answer. */
  listen(answer: Answer, prime: boolean): EventStream;
  /**
   * Returns the stream and number of the event with this id. undefined if the stream is no longer stored or has no such
   * event.
   */
  find(eventId: string): { readonly stream: EventStream; readonly event: number } | undefined;
  /** Sends the events of a stream from number `from` on to the client. */
  attach(stream: EventStream, answer: Answer, from: number): void;
  /**
   * Sends a message on a GET stream. Without a GET stream, stores the message for the next GET stream. `id` is set if
   * the message is a request of the server.
   */
  push(message: Buffer, id: string | undefined): void;
  /** Returns true if the client has a GET stream open. */
  hasListener(): boolean;
  /** Returns true if a client reads the answer to a call slowly. */
  blocked(): boolean;
  /** Returns true if any stream has a connected client. */
  attached(): boolean;
  tick(now: number): void;
  end(): void;
}

interface Entry {
  readonly number: number;
  readonly stream: EventStream;
  readonly listener: boolean;
  /** Monotonic time at which the stream was first found without a client and without a call. */
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
  // Slow GET streams do not stop the server, because each stream has its own limit.
}

/** Finds a stored event by its id, `<replica>.<stream>.<event>`. */
function findEvent(entries: ReadonlyMap<number, Entry>, replica: string, eventId: string) {
  const [, stream, event] = eventId.startsWith(`${replica}.`)
    ? (/^(\d{1,15})\.(\d{1,15})$/.exec(eventId.slice(replica.length + 1)) ?? [])
    : [];
  const entry = stream === undefined ? undefined : entries.get(Number(stream));
  if (entry === undefined || Number(event) >= entry.stream.next()) return undefined;
  return { stream: entry.stream, event: Number(event) };
}

/** Deletes disconnected streams that are too old or too many. Streams of calls in flight are never deleted. */
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
