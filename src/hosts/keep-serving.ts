// Keeps a process that serves from ending because one request broke: an exception that no one catches ends the request in
// whose context it was thrown. One of no request ends the process, as it does without this.

import { requestUnderWay } from '#std/requests/request-context.ts';

export function keepServing(): void {
  process.on('uncaughtException', (error) => {
    const request = requestUnderWay();
    // Node prints it with its stack, and ends the process.
    if (request === undefined) throw error;
    request.broken(error);
  });
}
