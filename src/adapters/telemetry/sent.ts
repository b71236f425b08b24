// Reports once when telemetry stops arriving, and once when it arrives again.

/** Receives the result of each batch. `error` is undefined if the batch arrived. */
export type Sent = (error: Error | undefined) => void;

export interface Arrival {
  readonly code: 'telemetry-not-sent' | 'telemetry-sent-again';
  readonly message: string;
}

/** Time limit of a batch. */
export const EXPORT_MS = 5000;
/** Time limit for sending the remaining telemetry at the end. */
export const FLUSH_MS = 2000;

const TEXT_MAX = 200;

/**
 * Returns a function for results. Messages have only the error of the connection or the status, not the collector's
 * answer.
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
