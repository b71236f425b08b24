// Finds the request that an exception belongs to, so that only this request ends. Every timer and promise that begins
// while a request is handled, and every event of the request and its response, runs in its context.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * A request in progress. Its fields hold the parts of the response, and release them when the request is over. If
 * closures held them instead, each scavenge would copy hundreds of finished requests: this took a third of the
 * processor time of a call.
 */
export interface GuardedRequest {
  /** Responds in place of `broken`, if enough of the request is known. */
  refuse?: ((error: unknown) => void) | undefined;
  /** Logs the exception, and responds to the request if that is still possible. Never throws. */
  broken(error: unknown): void;
}

const underWay = new AsyncLocalStorage<GuardedRequest>();

interface Emitter {
  emit(event: string | symbol, ...values: unknown[]): boolean;
}

/** Handles a request, whose events `emitters` emit. An exception of the task or a listener goes to `broken` at once. */
export function runRequest(request: GuardedRequest, emitters: readonly Emitter[], task: () => void): void {
  // All events share one context, because each call of `underWay.run` would create two.
  const scope = underWay.run(request, () => new AsyncResource('skep.request'));
  for (const emitter of emitters) emitIn(scope, request, emitter);
  try {
    scope.runInAsyncScope(task);
  } catch (error) {
    request.broken(error);
  }
}

/**
 * Runs the events in the context of the request. Otherwise they would run in the context of the connection, which many
 * requests share.
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

/** Returns the request of the current context, or undefined in the context of the process. */
export function requestUnderWay(): GuardedRequest | undefined {
  return underWay.getStore();
}
