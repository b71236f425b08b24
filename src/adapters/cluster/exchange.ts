// Sends one request and reads the whole response. Calls the fence directly before the first byte is sent, and enforces
// a timeout.

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface Sending {
  readonly options: Dispatcher.DispatchOptions;
  /** Milliseconds for the request and the whole response. A request that has no connection by then is not sent. */
  readonly timeoutMs: number;
  /** Maximum bytes of the response body before decompression. Longer bodies are dropped. */
  readonly maxBytes: number | undefined;
  /**
   * Called directly before the first byte is sent, because the process may have been suspended before. If it throws,
   * the request is not sent.
   */
  readonly fence: (() => void) | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** undefined if the body exceeds `maxBytes`. */
  readonly bytes: Uint8Array | undefined;
}

/** Returns undefined after a timeout. Throws errors of the fence, of undici and of Node.js. */
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
      // Keeps the last status, because 1xx statuses may precede it.
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
