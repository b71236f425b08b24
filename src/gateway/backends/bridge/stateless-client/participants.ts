// Who in a session at the server gets its messages: calls in flight and clients that listen.

import type { NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';

export interface SessionCall {
  /** JSON text of its id in the session; its progress token there is the same. */
  readonly id: string;
  /** Whether the server may ask the client in its course. */
  readonly mayAsk: boolean;
  /** Whether the client wants to have log messages. */
  readonly wantsLog: () => boolean;
  respond(bytes: Buffer, response: ResponseMessage): void;
  /** Progress of it, or a log message. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** A request of the server to the client. */
  ask(bytes: Buffer, request: RequestMessage): void;
  /** The server takes a request of its own back; `id` is JSON text. */
  withdraw(id: string): void;
}

export interface SessionListener {
  /** A change of a list or a resource. */
  notify(bytes: Buffer, message: NotificationMessage): void;
  /** The session is over. */
  lose(): void;
  /** This process ends it (2026-07-28, basic/patterns/subscriptions, Graceful Closure). */
  end(): void;
}
