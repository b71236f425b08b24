// Defines the receivers of messages in a session at the server: calls in flight and listening clients.

import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';

export interface SessionCall {
  /** JSON text of the call's id in the session; its progress token there is the same. */
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
  /** Called when the server cancels its own request; `id` is JSON text. */
  withdraw(id: string): void;
}

export interface SessionListener {
  /** Receives a change of a list or a resource. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** Called when the session is over. */
  lose(): void;
  /** Called when this process ends the subscription (2026-07-28, basic/patterns/subscriptions, Graceful Closure). */
  end(): void;
}
