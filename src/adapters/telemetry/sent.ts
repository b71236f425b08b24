// Whether telemetry arrives: said once when it stops arriving, and once when it does again.

/** Called for each batch; `error` is undefined where it arrived. */
export type Sent = (error: Error | undefined) => void;

export interface Arrival {
  readonly code: 'telemetry-not-sent' | 'telemetry-sent-again';
  readonly message: string;
}

/** A batch is given up after this. */
export const EXPORT_MS = 5000;
/** What is left at the end gets this long to be sent. */
export const FLUSH_MS = 2000;

const TEXT_MAX = 200;

/** What collectors answer is not part of the message: only what the connection or the status says. */
export function watchSent(notify: (arrival: Arrival) => void): Sent {
  let arriving = true;
  return (error) => {
    if (arriving === (error === undefined)) return;
    arriving = error === undefined;
    if (error === undefined) notify({ code: 'telemetry-sent-again', message: 'telemetry arrives again' });
    else notify({ code: 'telemetry-not-sent', message: `telemetry is not sent: ${error.message.slice(0, TEXT_MAX)}` });
  };
}
