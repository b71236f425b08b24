// Reports events inside a backend that no client sees, for metrics and the log of the operator.

/** Reason why a message was dropped. */
export type DropReason =
  /** A response matches no request in flight. */
  | 'response-unknown'
  /** The receiving client has gone, or reads too slowly. */
  | 'client-gone'
  /** Too many messages wait for a stream of the client. */
  | 'queue-full'
  /** The client of a message from a shared process cannot be determined. */
  | 'not-attributable'
  /** The bytes are not JSON, or not a message. */
  | 'unreadable';

export interface BackendObserver {
  dropped(reason: DropReason): void;
  log(level: 'debug' | 'info' | 'warn', message: string): void;
}
