// Ports of this machine for those who listen there, now or later. Taken below the range from which the kernel gives ports to
// connections and to `listen(0)`, so that a process that is to listen later finds its own still free.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Linux gives from 32,768 on, macOS from 49,152 on. */
const PORTS = { first: 20_000, afterLast: 32_768 } as const;
const TRIES = 50;

/** A port of 127.0.0.1; nothing listens there at this moment. */
export function freePort(): Promise<number> {
  return firstUsable(probePort);
}

/**
 * Listens on 127.0.0.1, where it did before if nothing else does so now, and gives the port. It is tried by listening: what is
 * free in one moment may be taken in the next.
 */
export function listenSomewhere(server: Server, before?: number): Promise<number> {
  return firstUsable((port) => listenUnlessTaken(server, port), before);
}

/** Whether nothing listens there at this moment. */
export async function probePort(port: number): Promise<boolean> {
  const server = createServer();
  if (!(await listenUnlessTaken(server, port))) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

async function firstUsable(tryPort: (port: number) => Promise<boolean>, first?: number): Promise<number> {
  if (first !== undefined && (await tryPort(first))) return first;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.first, PORTS.afterLast);
    if (await tryPort(port)) return port;
  }
  throw new Error(`none of ${TRIES} ports from ${PORTS.first} on was free`);
}

async function listenUnlessTaken(server: Server, port: number): Promise<boolean> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}
