// Defines the state of one client session, and sends messages to the server.

import { ERRORS } from '../../wire/errors.ts';
import type { Exchange } from '../backend.ts';
import type { BackendClock } from '../ports.ts';
import type { Call } from './call.ts';
import { errorMessage } from './errors.ts';
import type { SessionLimits } from './limits.ts';
import type { SessionLink } from './link.ts';
import type { BackendObserver } from './observer.ts';
import { createStreams, type Streams } from './streams.ts';

export interface SessionParts {
  readonly id: string;
  readonly caller: string;
  readonly replica: string;
  readonly clock: BackendClock;
  readonly limits: SessionLimits;
  readonly observer: BackendObserver;
  /** Called when the session has ended and can no longer be found. */
  readonly ended: () => void;
  /** Receives a promise that resolves when the session's line is closed. */
  readonly closing: (closed: Promise<void>) => void;
}

export interface SessionState {
  readonly parts: SessionParts;
  readonly streams: Streams;
  /** Calls by the JSON text of the request's id. */
  readonly calls: Map<string, Call>;
  /** Ids of requests of the server that the client has not answered, as JSON texts. */
  readonly asked: Set<string>;
  readonly watched: Map<string, (message: Buffer) => void>;
  link: SessionLink | undefined;
  version: string;
  usedAt: number;
  /** Monotonic time of the last message from the client or the server. */
  movedAt: number;
  paused: boolean;
  congested: boolean;
  over: boolean;
}

export function openState(parts: SessionParts): SessionState {
  const { limits, replica, clock, observer } = parts;
  const state: SessionState = {
    parts,
    streams: createStreams({
      limits,
      replica,
      monotonic: clock.monotonic,
      dropped: observer.dropped,
      lost: (id) => answerServer(state, id, ERRORS.internalError, 'the client listens to no stream'),
      flowChanged: () => adjustFlow(state),
    }),
    calls: new Map(),
    asked: new Set(),
    watched: new Map(),
    link: undefined,
    version: '',
    usedAt: clock.monotonic(),
    movedAt: clock.monotonic(),
    paused: false,
    congested: false,
    over: false,
  };
  return state;
}

/** Stops reading from the server while a client reads the answer to a call slowly. */
function adjustFlow(state: SessionState): void {
  const blocked = state.streams.blocked();
  if (blocked === state.paused) return;
  state.paused = blocked;
  if (blocked) state.link?.pause();
  else state.link?.resume();
}

export function sendToServer(state: SessionState, message: Buffer, exchange?: Exchange): void {
  if (state.link?.send(message, exchange) === false) state.congested = true;
}

/** Answers a request of the server on behalf of the client. */
export function answerServer(state: SessionState, id: string, code: number, message: string): void {
  state.asked.delete(id);
  sendToServer(state, errorMessage(id, code, message));
}
