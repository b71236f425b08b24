// Defines the receivers of messages in a session at the server: calls in flight and listening clients.

import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';

export interface SessionCall {
  /** JSON text of the call's id in the session; the progress token in the session is the same text. */
  readonly id: string;
  /** Whether the server may question the client during the call. */
  readonly mayAsk: boolean;
  /** Returns whether the client accepts log messages. */
  readonly wantsLog: () => boolean;
  respond(bytes: Buffer, response: ResponseMessage): void;
  /** Receives progress or a log message. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** Receives a request of the server to the client. */
  ask(bytes: Buffer, request: RequestMessage): void;
  /** Withdraws a request that the server cancelled. `id` is the request's id as JSON text. */
  withdraw(id: string): void;
}

export interface SessionListener {
  /** Receives a change of a list or a resource. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** Notes that the session is over. */
  lose(): void;
  /**
   * Ends the subscription because this process stops (MCP 2026-07-28, basic/patterns/subscriptions, Graceful Closure).
   */
  end(): void;
}
