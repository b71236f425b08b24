// Holds a request back at the last moment: when its connection is there and its first byte is about to leave. Knows
// nothing about leases.

import type { Dispatcher } from 'undici';

/** What `fence` throws ends the request unsent, also one that waited for its connection or in a stopped process. */
export function behindFence(dispatcher: Dispatcher, fence: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, fenced(handler, fence)));
}

function fenced(handler: Dispatcher.DispatchHandler, fence: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      try {
        fence();
      } catch (error) {
        controller.abort(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
    onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
    onResponseEnd: (...trailers) => handler.onResponseEnd?.(...trailers),
    onResponseError: (...error) => handler.onResponseError?.(...error),
  };
}
