// Tells reads that open consoles have requested from requests of runs.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from '#reconciler/run/ports.ts';

const consoleReads = new AsyncLocalStorage<true>();

/** Reads something for a console. Requests that begin meanwhile are requests of the console. */
export function readForConsole<T>(read: () => Promise<T>): Promise<T> {
  return consoleReads.run(true, read);
}

/** Returns a function that passes on exchanges of runs only. */
export function withoutConsoleReads(requested: (exchange: Exchange) => void): (exchange: Exchange) => void {
  return (exchange) => {
    if (consoleReads.getStore() === undefined) requested(exchange);
  };
}
