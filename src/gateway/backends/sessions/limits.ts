// Bounds of sessions: how much there may be of what, and for how long.

export interface SessionLimits {
  readonly sessions: number;
  /** Calls in flight of one session. */
  readonly calls: number;
  /** GET streams that one session may have open. */
  readonly listeners: number;
  /** Of each stream: what a client may ask for again, and what may wait for a client that reads slowly. */
  readonly ringEvents: number;
  readonly ringBytes: number;
  /** Streams without a reader whose events are kept, per session. */
  readonly keptStreams: number;
  readonly keptBytes: number;
  readonly keptMs: number;
  /** Messages that wait for the client's next GET stream. */
  readonly queueMessages: number;
  readonly queueBytes: number;
  /** Requests of the server that the client has not answered. */
  readonly serverRequests: number;
  /** A session without streams, calls and exchanges ends after this. */
  readonly idleMs: number;
  /** Between two comments on a quiet stream, at least; at most twice that. */
  readonly keepAliveMs: number;
  /** The server's silence about a call until that has failed; each message about it begins the time anew. 0: no limit. */
  readonly silenceMs: number;
  /** The same while the client has not answered a request of the server, since a person may have to. */
  readonly answerMs: number;
  readonly initializeMs: number;
  /** A client that takes nothing of its stream for so long loses it. */
  readonly stallMs: number;
  /** A cancelled call that the server does not answer ends after this. */
  readonly cancelledMs: number;
}

const MIB = 1024 * 1024;

export const SESSION_LIMITS: SessionLimits = {
  sessions: 12_000,
  calls: 256,
  listeners: 4,
  ringEvents: 1000,
  ringBytes: MIB,
  keptStreams: 8,
  keptBytes: MIB,
  keptMs: 60_000,
  queueMessages: 100,
  queueBytes: MIB,
  serverRequests: 256,
  idleMs: 7_200_000,
  keepAliveMs: 10_000,
  silenceMs: 300_000,
  answerMs: 3_600_000,
  initializeMs: 60_000,
  stallMs: 60_000,
  cancelledMs: 2_000,
};
