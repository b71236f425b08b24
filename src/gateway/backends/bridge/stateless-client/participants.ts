// Defines the receivers of messages of a session at the server: calls in flight and listening clients.

import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';

export interface SessionCall {
  /** JSON text of the call's id in the session. The call's progress token is the same text. */
  readonly id: string;
  /** True if the server may question the client during the call. */
  readonly mayAsk: boolean;
  readonly wantsLog: () => boolean;
  respond(bytes: Buffer, response: ResponseMessage): void;
  /** Handles a progress or log message. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** Handles a request of the server to the client. */
  ask(bytes: Buffer, request: RequestMessage): void;
  /** Withdraws a question that the server has cancelled. `id` is the question's id as JSON text. */
  withdraw(id: string): void;
}

export interface SessionListener {
  /** Handles a change of a list or a resource. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** Ends the subscription because the session at the server is lost. */
  lose(): void;
  /**
   * Ends the subscription because this process stops (MCP 2026-07-28, basic/patterns/subscriptions, Graceful Closure).
   */
  end(): void;
}
