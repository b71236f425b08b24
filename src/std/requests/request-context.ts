// Finds the request that an exception belongs to, so that a request that breaks ends alone. Every timer and promise that
// begins while a request is handled, and every event of the request and its response, runs in its context.

import { AsyncLocalStorage } from 'node:async_hooks';

export interface GuardedRequest {
  /** Logs the exception, and answers the request if that is still possible. Never throws. */
  broken: (error: unknown) => void;
}

const underWay = new AsyncLocalStorage<GuardedRequest>();

interface Emitter {
  emit(event: string | symbol, ...values: unknown[]): boolean;
}

/** Handles a request, whose events `emitters` emit. An exception of the task or a listener goes to `broken` at once. */
export function runRequest(request: GuardedRequest, emitters: readonly Emitter[], task: () => void): void {
  for (const emitter of emitters) emitIn(request, emitter);
  runGuarded(request, task);
}

/** Without this the events would come in the context of the connection, which many requests share. */
function emitIn(request: GuardedRequest, emitter: Emitter): void {
  const emit = emitter.emit.bind(emitter);
  function emitGuarded(event: string | symbol, ...values: unknown[]): boolean {
    let heard = false;
    runGuarded(request, () => {
      heard = emit(event, ...values);
    });
    return heard;
  }
  Object.assign(emitter, { emit: emitGuarded });
}

function runGuarded(request: GuardedRequest, task: () => void): void {
  underWay.run(request, () => {
    try {
      task();
    } catch (error) {
      request.broken(error);
    }
  });
}

/** The request whose context this is; undefined in the context of the process. */
export function requestUnderWay(): GuardedRequest | undefined {
  return underWay.getStore();
}
