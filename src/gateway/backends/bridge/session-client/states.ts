// Remembers the log level, subscriptions and requests in flight of client sessions in this process. All other data of a
// session is in its id, which every replica can read.

import type { ResponseMessage } from '../../../wire/message.ts';
import { type ClientIdentity, readSessionId } from './identity.ts';

export interface ClientState {
  readonly id: string;
  readonly identity: ClientIdentity;
  /** Level that the client set with `logging/setLevel`. */
  logLevel?: string;
  /** URIs that the client subscribed to with `resources/subscribe`. */
  readonly subscriptions: Set<string>;
  /** Functions that cancel the client's requests in flight, by the JSON text of the request's id. */
  readonly calls: Map<string, () => void>;
  /** Receivers of the client's responses to requests of the bridge, by the JSON text of the request's id. */
  readonly questions: Map<string, (bytes: Buffer, response: ResponseMessage) => void>;
  listener?: ClientListener;
}

export interface ClientListener {
  /**
   * Sends changed subscriptions to the server. Resolves when the server has acknowledged the subscriptions, or after a
   * time limit.
   */
  renew(): Promise<void>;
  end(): void;
}

export interface ClientStates {
  /**
   * Returns the session's state, which is created if necessary. undefined if no bridge created the id, or if this
   * process remembers that the session has ended.
   */
  find(id: string): ClientState | undefined;
  end(id: string): void;
  all(): Iterable<ClientState>;
}

/** Maximum number of ended sessions that the process remembers. */
const ENDED = 10_000;

export function createClientStates(max: number): ClientStates {
  /** States by session id, the most recently used last. */
  const states = new Map<string, ClientState>();
  const ended = new Set<string>();

  function evict(): void {
    for (const [id, { calls, listener, questions }] of states) {
      if (states.size < max) return;
      if (calls.size === 0 && questions.size === 0 && listener === undefined) states.delete(id);
    }
  }

  return {
    find(id) {
      const known = states.get(id);
      if (known !== undefined) {
        states.delete(id);
        states.set(id, known);
        return known;
      }
      const identity = ended.has(id) ? undefined : readSessionId(id);
      if (identity === undefined) return undefined;
      const state: ClientState = {
        id,
        identity,
        subscriptions: new Set(),
        calls: new Map(),
        questions: new Map(),
      };
      evict();
      states.set(id, state);
      return state;
    },
    end(id) {
      const state = states.get(id);
      states.delete(id);
      ended.add(id);
      for (const oldest of ended) {
        if (ended.size <= ENDED) break;
        ended.delete(oldest);
      }
      state?.listener?.end();
      for (const cancel of [...(state?.calls.values() ?? [])]) cancel();
    },
    all: () => states.values(),
  };
}
