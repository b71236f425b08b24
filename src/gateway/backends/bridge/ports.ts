// Defines the dependencies of a bridge, apart from the backend: time, randomness, a seal, and limits.

import type { SessionSeal } from '../../wire/seal.ts';
import type { BackendClock } from '../ports.ts';

export interface BridgePorts {
  readonly clock: BackendClock;
  /** Seals `requestState`. Only the caller that received a sealed text can send the text back. */
  readonly seal: SessionSeal;
}

export interface BridgeLimits {
  /** Maximum size of one message from the server. */
  readonly messageBytes: number;
  /** Time limit for the bridge's own requests: discovery, handshakes and subscriptions. */
  readonly askMs: number;
  /** Time after which a server that did not speak an era is checked again. */
  readonly eraMs: number;
  /** Maximum time for which an answer to `server/discover` is cached. */
  readonly discoverMs: number;
  /**
   * Maximum number of client sessions with state in this process, such as a log level, subscriptions or requests in
   * flight.
   */
  readonly clientSessions: number;
  /** Maximum number of sessions at the server for clients without sessions. */
  readonly backendSessions: number;
  /**
   * Maximum number of sessions at the server for one client. Calls that may question the client need separate sessions.
   * Over the limit, the bridge refuses these calls as busy.
   */
  readonly sessionsPerClient: number;
  /** Time after which an unused session at the server is ended. */
  readonly backendSessionIdleMs: number;
  /**
   * Maximum number of calls that wait for their client's answer to a question of the server, in total and per caller.
   */
  readonly parkedCalls: number;
  readonly parkedCallsPerCaller: number;
  readonly parkedMs: number;
  /** Maximum number of bytes that are read from the server while a call waits. */
  readonly parkedBytes: number;
  /** Time for which the bridge collects questions of the server before the client gets all of them in one message. */
  readonly questionsMs: number;
  /** Maximum number of question rounds of one call. */
  readonly rounds: number;
  /** Time for which a streamed answer may still become plain JSON with its own HTTP status. */
  readonly headMs: number;
}

export const BRIDGE_LIMITS: BridgeLimits = {
  messageBytes: 16 * 1024 * 1024,
  askMs: 30_000,
  eraMs: 600_000,
  discoverMs: 3_600_000,
  clientSessions: 10_000,
  backendSessions: 1000,
  sessionsPerClient: 64,
  backendSessionIdleMs: 600_000,
  parkedCalls: 1024,
  parkedCallsPerCaller: 64,
  parkedMs: 600_000,
  parkedBytes: 1024 * 1024,
  questionsMs: 20,
  rounds: 32,
  headMs: 2000,
};
