// Defines the dependencies of a bridge besides the backend: time, randomness, a seal, and limits.

import type { SessionSeal } from '../../wire/seal.ts';
import type { BackendClock } from '../ports.ts';

export interface BridgePorts {
  readonly clock: BackendClock;
  /** Seals `requestState`: only the caller that received a `requestState` can send it back. */
  readonly seal: SessionSeal;
}

export interface BridgeLimits {
  /** Maximum size of one message of the server that the bridge reads. */
  readonly messageBytes: number;
  /** Time limit for the bridge's own requests: discovery, handshakes, subscriptions. */
  readonly askMs: number;
  /** Time after which a server that did not speak an era is checked again. */
  readonly eraMs: number;
  /** Longest time that an answer to `server/discover` is reused. */
  readonly discoverMs: number;
  /** Maximum number of client sessions with state in this process: log level, subscriptions, requests in flight. */
  readonly clientSessions: number;
  /** Maximum number of sessions at the server that are kept for clients without sessions. */
  readonly backendSessions: number;
  /**
   * Maximum number of sessions of one client, so that each question of the server belongs to one call. Further calls
   * are refused as busy.
   */
  readonly sessionsPerClient: number;
  /** Time after which an unused session at the server is ended. */
  readonly backendSessionIdleMs: number;
  /** Maximum number of calls that wait for their client to answer a question of the server, in total and per caller. */
  readonly parkedCalls: number;
  readonly parkedCallsPerCaller: number;
  readonly parkedMs: number;
  /** Maximum number of bytes from the server while a call waits; after that, reading stops. */
  readonly parkedBytes: number;
  /** Questions that a server sends within this time are put to the client together. */
  readonly questionsMs: number;
  /** Maximum number of times that one call may question its client. */
  readonly rounds: number;
  /** Time in which an answer may still become plain JSON with its own status, although the server began a stream. */
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
