// Stores requests in flight at a shared process: each has an id of ours for the process, and the client's own id for
// the client.

import type { SessionHandlers } from '../sessions/link.ts';

/** A client of a shared process: a session, or one request of the stateless era. */
export interface Client {
  readonly caller: string;
  readonly handlers: SessionHandlers;
  /** Requests in flight, by the JSON text of the client's own id. */
  readonly requests: Map<string, ClientRequest>;
  /** Subscribed resources. */
  readonly subscriptions: Set<string>;
}

/** A request of a client. */
export interface ClientRequest {
  readonly kind: 'client';
  /** JSON text of our id, which is also the progress token. */
  readonly json: string;
  readonly client: Client;
  /** JSON texts of the client's own id and progress token. */
  readonly id: string;
  readonly token: string | undefined;
  readonly method: string;
  /** `params.uri`. */
  readonly uri: string | undefined;
}

/** A request of our own. */
interface OwnRequest {
  readonly kind: 'own';
  readonly json: string;
  readonly answered: (message: Buffer) => void;
}

type PendingRequest = ClientRequest | OwnRequest;

export interface Requests {
  add(request: PendingRequest): void;
  find(json: string): PendingRequest | undefined;
  remove(request: PendingRequest): void;
  /** Returns the JSON text of a new id that is unique across replicas and restarts. */
  newId(): string;
  /** Removes and returns all requests. */
  clear(): readonly PendingRequest[];
}

/** Creates the store. `prefix` begins every id of ours, as plain text. */
export function createRequests(prefix: string): Requests {
  const pending = new Map<string, PendingRequest>();
  let count = 0;
  return {
    add(request) {
      pending.set(request.json, request);
      if (request.kind === 'client') request.client.requests.set(request.id, request);
    },
    find: (json) => pending.get(json),
    remove(request) {
      pending.delete(request.json);
      if (request.kind === 'client') request.client.requests.delete(request.id);
    },
    newId() {
      count += 1;
      return `"${prefix}.${count}"`;
    },
    clear() {
      const all = [...pending.values()];
      pending.clear();
      for (const request of all) if (request.kind === 'client') request.client.requests.delete(request.id);
      return all;
    },
  };
}
