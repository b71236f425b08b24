// Stores requests in flight at a shared process, with the id that the gateway gave the request and the client's own id.

import type { SessionHandlers } from '../sessions/link.ts';

/** Client of a shared process: a session, or one request of the stateless era. */
export interface Client {
  readonly caller: string;
  readonly handlers: SessionHandlers;
  /** Requests in flight, by the JSON text of the client's own id. */
  readonly requests: Map<string, ClientRequest>;
  /** URIs of subscribed resources. */
  readonly subscriptions: Set<string>;
}

export interface ClientRequest {
  readonly kind: 'client';
  /** Id that the process gets, as JSON text. The progress token for the process is the same text. */
  readonly json: string;
  readonly client: Client;
  /** The client's own id and progress token, as JSON texts. */
  readonly id: string;
  readonly token: string | undefined;
  readonly method: string;
  readonly uri: string | undefined;
}

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
  /** Returns a new id as JSON text. The id is unique across replicas and restarts. */
  newId(): string;
  clear(): readonly PendingRequest[];
}

/** Creates the store. `prefix` is the plain text with which every new id begins. */
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
