// Defines the line between one client session and a server: a message channel that every transport implements.

import type { Exchange } from '../backend.ts';

/** Routing data of a server's message, if the transport has already parsed the message. */
export interface Routed {
  readonly kind: 'request' | 'notification' | 'response';
  /** Id of the message, as JSON text. */
  readonly id?: string;
  readonly method?: string;
  /** True if the message is an error response. */
  readonly failed?: boolean;
  /** Progress token of `notifications/progress`, as JSON text. */
  readonly token?: string;
  /**
   * Id of the client's request that the message belongs to, as JSON text. If absent, the message belongs to the last
   * request in flight.
   */
  readonly call?: string;
}

export interface SessionHandlers {
  /** Handles one whole JSON-RPC message of the server. `routed` saves parsing the message again. */
  message(bytes: Buffer, routed?: Routed): void;
  /** Handles the end of the session by the server, once. Not called after `close`. `detail` is for the operator. */
  closed(detail: string): void;
  /** Called when the server reads again after `send` returned false. */
  drain(): void;
}

/** Every `Link` implements `SessionLink`. */
export interface SessionLink {
  /** Sends one message to the server. `exchange` is absent for messages that the session itself creates. */
  send(message: Buffer, exchange?: Exchange): boolean;
  /**
   * Returns true if too many bytes wait for the server, including bytes of other clients. The session then refuses
   * requests.
   */
  congested?(): boolean;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/**
 * Opens the line of a new session. The first message on the line is the client's `initialize`. May call handlers before
 * the promise settles. Rejects with a Failure, whose data may contain `retryAfterSeconds`.
 */
export type OpenSession = (
  exchange: Exchange,
  handlers: SessionHandlers,
  client: WaitingClient,
) => Promise<SessionLink>;

/** Opens the line of one request of the stateless era. Uses the same handlers and failures as OpenSession. */
export type OpenRequest = (exchange: Exchange, handlers: SessionHandlers) => Promise<SessionLink>;

/** Client that waits for the line of its session. */
export interface WaitingClient {
  readonly caller: string;
  /** Returns true if the client has disconnected and needs no line any more. */
  left(): boolean;
  /** Ends an unused session to make room for the new session. Returns false if no session may be ended. */
  makeRoom(): boolean;
}
