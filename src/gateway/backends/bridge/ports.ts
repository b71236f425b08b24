// What a bridge needs besides the backend: time, chance, a seal, and how much there may be of what.

import type { SessionSeal } from '../../wire/seal.ts';
import type { BackendClock } from '../ports.ts';

export interface BridgePorts {
  readonly clock: BackendClock;
  /** Makes `requestState`: only the caller that got one can bring it back. */
  readonly seal: SessionSeal;
}

export interface BridgeLimits {
  /** Of one message of the server that has to be read. */
  readonly messageBytes: number;
  /** Requests of the bridge's own: discovery, handshakes, subscriptions. */
  readonly askMs: number;
  /** After it a server that did not speak an era is asked again. */
  readonly eraMs: number;
  /** Longest time that an answer to `server/discover` is used again. */
  readonly discoverMs: number;
  /** Sessions of clients with memory in this process: log level, subscriptions, requests in flight. */
  readonly clientSessions: number;
  /** Sessions at the server that are kept for clients without. */
  readonly backendSessions: number;
  /** Of one client, so that the server's questions belong to one call each; beyond it further ones are refused as busy. */
  readonly sessionsPerClient: number;
  /** One of these that nothing used for so long is ended. */
  readonly backendSessionIdleMs: number;
  /** Calls that wait for their client to answer a question of the server, in all and of one caller. */
  readonly parkedCalls: number;
  readonly parkedCallsPerCaller: number;
  readonly parkedMs: number;
  /** What may come from the server while a call waits, until it is not read any more. */
  readonly parkedBytes: number;
  /** Questions that a server asks within this time are put to the client together. */
  readonly questionsMs: number;
  /** How often one call may ask its client. */
  readonly rounds: number;
  /** How long an answer may yet become plain JSON, with a status of its own, although the server began a stream. */
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
