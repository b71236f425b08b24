// Keeps a serving process alive if one request breaks: an uncaught exception ends only the request in whose context it
// was thrown. An exception outside of requests ends the process, which is the default of Node.js.

import { requestUnderWay } from '#std/requests/request-context.ts';

export function keepServing(): void {
  process.on('uncaughtException', (error) => {
    const request = requestUnderWay();
    // Node.js prints the error with its stack, and ends the process.
    if (request === undefined) throw error;
    request.broken(error);
  });
}
