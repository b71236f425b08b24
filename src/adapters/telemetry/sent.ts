// Logs once when telemetry cannot be sent, and once when it is sent again.

/** Receives the result of each batch. `error` is undefined after success. */
export type Sent = (error: Error | undefined) => void;

export interface Arrival {
  readonly code: 'telemetry-not-sent' | 'telemetry-sent-again';
  readonly message: string;
}

/** Timeout in milliseconds of a batch. */
export const EXPORT_MS = 5000;
/** Milliseconds for sending the remaining telemetry at shutdown. */
export const FLUSH_MS = 2000;

const TEXT_MAX = 200;

/**
 * Returns a function for results. Messages contain only the connection error or the status, not the collector's
 * response.
 */
export function watchSent(notify: (arrival: Arrival) => void): Sent {
  let arriving = true;
  return (error) => {
    if (arriving === (error === undefined)) return;
    arriving = error === undefined;
    if (error === undefined) notify({ code: 'telemetry-sent-again', message: 'telemetry arrives again' });
    else notify({ code: 'telemetry-not-sent', message: `telemetry is not sent: ${error.message.slice(0, TEXT_MAX)}` });
  };
}
