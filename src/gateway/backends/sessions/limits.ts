// Defines limits of sessions: numbers, sizes and times.

export interface SessionLimits {
  readonly sessions: number;
  /** Maximum number of requests in flight in one session. */
  readonly calls: number;
  /** Maximum number of open GET streams in one session. */
  readonly listeners: number;
  /** Limits for the events of one stream that are stored for a client that reconnects or reads slowly. */
  readonly ringEvents: number;
  readonly ringBytes: number;
  /** Limits per session for ended and disconnected streams whose events are stored. */
  readonly keptStreams: number;
  readonly keptBytes: number;
  readonly keptMs: number;
  /** Limits for messages that wait for the client's next GET stream. */
  readonly queueMessages: number;
  readonly queueBytes: number;
  /** Maximum number of unanswered requests of the server. */
  readonly serverRequests: number;
  /** Time after which a session without streams, requests and exchanges ends. */
  readonly idleMs: number;
  /** Minimum time between two comments on a quiet stream. The maximum is twice this time. */
  readonly keepAliveMs: number;
  /** Time without a message of the server about a request, after which the request fails. 0 means no limit. */
  readonly silenceMs: number;
  /** Replaces `silenceMs` while the client has to answer a request of the server, since a person may have to decide. */
  readonly answerMs: number;
  readonly initializeMs: number;
  /** Time after which a client that does not read loses its stream. */
  readonly stallMs: number;
  /** Time after which a cancelled request ends even if the server does not respond. */
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
