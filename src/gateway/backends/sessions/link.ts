// A line for one session of a client: what a transport offers so that sessions can be served on it.

import type { Exchange } from '../backend.ts';

/** What routes a message of the server, where the line knows it already. */
export interface Routed {
  readonly kind: 'request' | 'notification' | 'response';
  /** JSON text of the id. */
  readonly id?: string;
  readonly method?: string;
  /** A response that is an error. */
  readonly failed?: boolean;
  /** JSON text of the progress token of `notifications/progress`. */
  readonly token?: string;
  /** JSON text of the id of the client's request that it belongs to, where the line knows: absent, the last one. */
  readonly call?: string;
}

export interface SessionHandlers {
  /** One whole JSON-RPC message of the server. `routed` spares a second look at it. */
  message(bytes: Buffer, routed?: Routed): void;
  /** Once, unless `close` was called: nothing comes any more, and the session is over. `detail` is for the operator. */
  closed(detail: string): void;
  /** After `send` was answered with false. */
  drain(): void;
}

/** Every `Link` is one. */
export interface SessionLink {
  /** One message of the client with the exchange that brought it, or, without one, a message of the session itself. */
  send(message: Buffer, exchange?: Exchange): boolean;
  /** More waits for the server than should, also of others: requests are refused. */
  congested?(): boolean;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/**
 * Opens the line of a new session; the first message that it gets is the client's `initialize`. Handlers may be called
 * before the promise is settled. Rejects with a Failure: its data may say `retryAfterSeconds`.
 */
export type OpenSession = (
  exchange: Exchange,
  handlers: SessionHandlers,
  client: WaitingClient,
) => Promise<SessionLink>;

/** The same for one request of the stateless era. */
export type OpenRequest = (exchange: Exchange, handlers: SessionHandlers) => Promise<SessionLink>;

/** The client that waits for the line of its session. */
export interface WaitingClient {
  readonly caller: string;
  /** True when it has closed its connection: nothing has to be opened for it any more. */
  left(): boolean;
  /** Ends a session that is not used, in favour of the one that is opened. False: there is none that may end. */
  makeRoom(): boolean;
}
