// What happens inside a backend and no client sees, for metrics and the log of the operator.

/** Why a message went nowhere. */
export type DropReason =
  /** A response to no request in flight. */
  | 'response-unknown'
  /** The client that it is for has gone, or reads too slowly. */
  | 'client-gone'
  /** More waits for a stream of the client than may wait. */
  | 'queue-full'
  /** A shared process: it cannot be said whose it is. */
  | 'not-attributable'
  /** No JSON, or no message. */
  | 'unreadable';

export interface BackendObserver {
  dropped(reason: DropReason): void;
  log(level: 'debug' | 'info' | 'warn', message: string): void;
}
