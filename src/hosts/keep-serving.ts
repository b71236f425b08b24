// Keeps a serving process alive after an uncaught exception: only the request in whose context it was thrown fails. An
// exception outside of requests ends the process.

import { requestUnderWay } from '#std/requests/request-context.ts';

export function keepServing(): void {
  process.on('uncaughtException', (error) => {
    const request = requestUnderWay();
    // Node.js then prints the error with its stack, and ends the process.
    if (request === undefined) throw error;
    request.broken(error);
  });
}
