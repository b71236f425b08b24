// One request with all of its answer: its fence is asked right before its first byte leaves, and it is given up after a
// time.

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface Sending {
  readonly options: Dispatcher.DispatchOptions;
  /** For the request and all of its answer. One that has no connection by then is not sent any more. */
  readonly timeoutMs: number;
  /** Of the answer's body, as it is sent; what is longer is not read. */
  readonly maxBytes: number | undefined;
  /** What it throws ends the request unsent, also one that waited for its connection or in a stopped process. */
  readonly fence: (() => void) | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Undefined where there are more. */
  readonly bytes: Uint8Array | undefined;
}

/** Undefined where the time is over. Throws what the fence throws, and errors of undici and Node.js. */
export function exchange(
  dispatcher: Dispatcher,
  { options, timeoutMs, maxBytes = Infinity, fence }: Sending,
): Promise<Received | undefined> {
  return new Promise((resolve, reject) => {
    let late: Error | undefined;
    let started: Dispatcher.DispatchController | undefined;
    let head: Pick<Received, 'status' | 'headers'> = { status: 0, headers: {} };
    const chunks: Buffer[] = [];
    let length = 0;
    function end(received: Received): void {
      clearTimeout(timer);
      resolve(received);
    }
    function giveUp(): void {
      late = new Error('the time for it is over');
      started?.abort(late);
    }
    const timer = setTimeout(giveUp, timeoutMs).unref();
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        started = controller;
        const held = thrownBy(fence) ?? late;
        if (held !== undefined) controller.abort(held);
      },
      // The last one counts: others (1xx) may come before it.
      onResponseStart: (_, status, headers) => {
        head = { status, headers };
      },
      onResponseData(controller, chunk) {
        length += chunk.length;
        if (length <= maxBytes) chunks.push(chunk);
        else {
          end({ ...head, bytes: undefined });
          controller.abort(new Error(`more than ${maxBytes} bytes`));
        }
      },
      onResponseEnd: () => end({ ...head, bytes: Buffer.concat(chunks, length) }),
      onResponseError(_, error) {
        clearTimeout(timer);
        if (error === late) resolve(undefined);
        else reject(error);
      },
    });
  });
}

function thrownBy(fence: Sending['fence']): Error | undefined {
  try {
    fence?.();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
