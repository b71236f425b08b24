// Finds the request to which an uncaught exception belongs, so that only this request ends. Timers, promises and events
// that begin during a request run in its context.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * A request in progress. The response is in fields, which are cleared at the end of the request. References in closures
 * would make each garbage collection copy hundreds of finished requests, which took a third of the processor time of a
 * call.
 */
export interface GuardedRequest {
  /** If set, sends the response to an exception instead of `broken`. */
  refuse?: ((error: unknown) => void) | undefined;
  /** Logs the exception, and responds if still possible. Never throws. */
  broken(error: unknown): void;
}

const underWay = new AsyncLocalStorage<GuardedRequest>();

interface Emitter {
  emit(event: string | symbol, ...values: unknown[]): boolean;
}

/** Handles a request whose events `emitters` emit. Passes exceptions of `task` and of event listeners to `broken`. */
export function runRequest(request: GuardedRequest, emitters: readonly Emitter[], task: () => void): void {
  // All events share one context, because each call of `underWay.run` would create two contexts.
  const scope = underWay.run(request, () => new AsyncResource('skep.request'));
  for (const emitter of emitters) emitIn(scope, request, emitter);
  try {
    scope.runInAsyncScope(task);
  } catch (error) {
    request.broken(error);
  }
}

/**
 * Runs event listeners in the context of the request. Otherwise they would run in the context of the connection, which
 * many requests share.
 */
function emitIn(scope: AsyncResource, request: GuardedRequest, emitter: Emitter): void {
  const { emit } = emitter;
  function emitGuarded(event: string | symbol, ...values: unknown[]): boolean {
    try {
      return scope.runInAsyncScope(emit, emitter, event, ...values);
    } catch (error) {
      request.broken(error);
      return false;
    }
  }
  Object.assign(emitter, { emit: emitGuarded });
}

/** Returns the request of the current context. Returns undefined outside all requests. */
export function requestUnderWay(): GuardedRequest | undefined {
  return underWay.getStore();
}
