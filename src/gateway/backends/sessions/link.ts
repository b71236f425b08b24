// Defines a line for one session of a client: the functions of a transport that serve sessions.

import type { Exchange } from '../backend.ts';

/** Facts that route a message of the server, if the line knows them already. */
export interface Routed {
  readonly kind: 'request' | 'notification' | 'response';
  /** JSON text of the id. */
  readonly id?: string;
  readonly method?: string;
  /** Whether a response is an error. */
  readonly failed?: boolean;
  /** JSON text of the progress token of `notifications/progress`. */
  readonly token?: string;
  /**
   * JSON text of the id of the client's request that the message belongs to, if the line knows it; if absent, the last
   * call is assumed.
   */
  readonly call?: string;
}

export interface SessionHandlers {
  /** Receives one whole JSON-RPC message of the server. `routed` saves a second scan. */
  message(bytes: Buffer, routed?: Routed): void;
  /** Called once, unless `close` was called: the session is over. `detail` is for the operator. */
  closed(detail: string): void;
  /** Called after `send` returned false. */
  drain(): void;
}

/** Every `Link` is a `SessionLink`. */
export interface SessionLink {
  /** Sends one message of the client with its exchange, or without an exchange a message of the session itself. */
  send(message: Buffer, exchange?: Exchange): boolean;
  /** Returns whether too much waits for the server, also from other clients: requests are then refused. */
  congested?(): boolean;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/**
 * Opens the line of a new session; its first message is the client's `initialize`. Handlers may be called before the
 * promise is settled. Rejects with a Failure, whose data may contain `retryAfterSeconds`.
 */
export type OpenSession = (
  exchange: Exchange,
  handlers: SessionHandlers,
  client: WaitingClient,
) => Promise<SessionLink>;

/** Opens a line for one request of the stateless era in the same way. */
export type OpenRequest = (exchange: Exchange, handlers: SessionHandlers) => Promise<SessionLink>;

/** Client that waits for the line of its session. */
export interface WaitingClient {
  readonly caller: string;
  /** Returns true if the client has closed its connection: it needs no line any more. */
  left(): boolean;
  /** Ends an unused session in favour of the one that is opened. Returns false if none may end. */
  makeRoom(): boolean;
}
