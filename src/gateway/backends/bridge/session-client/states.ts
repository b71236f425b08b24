// What this process remembers of sessions whose clients it serves: the log level, subscriptions, and what is in flight. All
// else is in the session id, so that another replica lacks these alone.

import type { ResponseMessage } from '../../../wire/message.ts';
import { type ClientIdentity, readSessionId } from './identity.ts';

export interface ClientState {
  readonly id: string;
  readonly identity: ClientIdentity;
  /** From `logging/setLevel`. */
  logLevel?: string;
  /** URIs of `resources/subscribe`. */
  readonly subscriptions: Set<string>;
  /** What cancels a request in flight, by the JSON text of its id. */
  readonly calls: Map<string, () => void>;
  /** Who gets the client's response to a request of ours, by the JSON text of its id. */
  readonly questions: Map<string, (bytes: Buffer, response: ResponseMessage) => void>;
  listener?: ClientListener;
}

export interface ClientListener {
  /** The subscriptions are others now; settles when the server knows. */
  renew(): Promise<void>;
  end(): void;
}

export interface ClientStates {
  /** Undefined where the id is none of a bridge, or its session was ended here. */
  find(id: string): ClientState | undefined;
  end(id: string): void;
  all(): Iterable<ClientState>;
}

/** How many ended sessions are remembered as such. */
const ENDED = 10_000;

export function createClientStates(max: number): ClientStates {
  /** The one that was used last is last. */
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
