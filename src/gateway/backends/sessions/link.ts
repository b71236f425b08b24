// Defines the line between one session of a client and a server, in the form that each transport implements.

import type { Exchange } from '../backend.ts';

/** Facts that route a message of the server, if the transport has read them already. */
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
   * JSON text of the id of the client's request that the message belongs to, if the transport knows it. If absent, the
   * last call is assumed.
   */
  readonly call?: string;
}

export interface SessionHandlers {
  /** Receives one whole JSON-RPC message of the server. `routed` saves a second scan. */
  message(bytes: Buffer, routed?: Routed): void;
  /** Notes the end of the session. Called once, but not after `close`. `detail` is for the operator. */
  closed(detail: string): void;
  /** Notes that the server reads again, after `send` returned false. */
  drain(): void;
}

/** Every `Link` is a `SessionLink`. */
export interface SessionLink {
  /** Sends one message of the client with its exchange, or without an exchange a message of the session itself. */
  send(message: Buffer, exchange?: Exchange): boolean;
  /** Returns whether too much waits for the server, including messages of other clients. Requests are then refused. */
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

/** Opens a line for one request of the stateless era with the same handlers and failures as OpenSession. */
export type OpenRequest = (exchange: Exchange, handlers: SessionHandlers) => Promise<SessionLink>;

/** A client that waits for the line of its session. */
export interface WaitingClient {
  readonly caller: string;
  /** Returns true if the client has closed its connection: the client then needs no line any more. */
  left(): boolean;
  /** Ends an unused session to make room for the new session. Returns false if no session may end. */
  makeRoom(): boolean;
}
