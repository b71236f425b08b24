// Reports events of a backend that clients do not see, for metrics and the operator's log.

export type DropReason =
  /** No request in flight matches the response. */
  | 'response-unknown'
  /** The client has disconnected or reads too slowly. */
  | 'client-gone'
  /** Too many messages wait for a stream of the client. */
  | 'queue-full'
  /** The message came from a shared process and may belong to several clients. */
  | 'not-attributable'
  /** The bytes are not a JSON-RPC message. */
  | 'unreadable';

export interface BackendObserver {
  dropped(reason: DropReason): void;
  log(level: 'debug' | 'info' | 'warn', message: string): void;
}
