// A port of this machine for a process that is to listen there later. Taken below the range from which the kernel gives
// ports to connections and to `listen(0)`, so that nothing else gets it before the process has started.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Linux gives from 32,768 on, macOS from 49,152 on. */
const PORTS = { first: 20_000, afterLast: 32_768 } as const;
const TRIES = 50;

/** Of 127.0.0.1; nothing listens there at this moment. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.first, PORTS.afterLast);
    if (await probePort(port)) return port;
  }
  throw new Error(`none of ${TRIES} ports from ${PORTS.first} on was free`);
}

/** Whether nothing listens there at this moment. */
export function probePort(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
