// Defines the bounds of sessions: numbers, sizes and times.

export interface SessionLimits {
  readonly sessions: number;
  /** Maximum number of calls in flight in one session. */
  readonly calls: number;
  /** Maximum number of open GET streams in one session. */
  readonly listeners: number;
  /** Bounds of the events in each stream that are stored for a client that reconnects, or wait for a slow reader. */
  readonly ringEvents: number;
  readonly ringBytes: number;
  /** Bounds per session for streams without a reader whose events stay stored. */
  readonly keptStreams: number;
  readonly keptBytes: number;
  readonly keptMs: number;
  /** Bounds of messages that wait for the client's next GET stream. */
  readonly queueMessages: number;
  readonly queueBytes: number;
  /** Maximum number of server requests that the client has not answered. */
  readonly serverRequests: number;
  /** Time after which a session without streams, calls and exchanges ends. */
  readonly idleMs: number;
  /** Minimum time between two comments on a quiet stream; the maximum is twice that. */
  readonly keepAliveMs: number;
  /**
   * Silence of the server after which a call fails; each message about the call restarts the time. 0 means no limit.
   */
  readonly silenceMs: number;
  /**
   * The limit in place of `silenceMs` while the client has to answer a request of the server, since a person may have
   * to decide.
   */
  readonly answerMs: number;
  readonly initializeMs: number;
  /** Time after which a client that reads nothing loses its stream. */
  readonly stallMs: number;
  /** Time after which a cancelled call that the server does not answer ends. */
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
