// Finds the request that an exception belongs to, so that a request that breaks ends alone. Every timer and promise that
// begins while a request is handled, and every event of the request and its response, runs in its context.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * A request that is under way. Its fields hold the parts of the answer, and let go of them if the request is over. If closures hold them
 * instead, each scavenge copies hundreds of requests that are over: this took a third of the processor time of a call.
 */
export interface GuardedRequest {
  /** Answers in place of `broken`, if enough of the request is known. */
  refuse?: ((error: unknown) => void) | undefined;
  /** Logs the exception, and answers the request if that is still possible. Never throws. */
  broken(error: unknown): void;
}

const underWay = new AsyncLocalStorage<GuardedRequest>();

interface Emitter {
  emit(event: string | symbol, ...values: unknown[]): boolean;
}

/** Handles a request, whose events `emitters` emit. An exception of the task or a listener goes to `broken` at once. */
export function runRequest(request: GuardedRequest, emitters: readonly Emitter[], task: () => void): void {
  // One context for all events: each call of `underWay.run` would make two.
  const scope = underWay.run(request, () => new AsyncResource('skep.request'));
  for (const emitter of emitters) emitIn(scope, request, emitter);
  try {
    scope.runInAsyncScope(task);
  } catch (error) {
    request.broken(error);
  }
}

/** Without this the events would come in the context of the connection, which many requests share. */
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

/** The request whose context this is; undefined in the context of the process. */
export function requestUnderWay(): GuardedRequest | undefined {
  return underWay.getStore();
}
