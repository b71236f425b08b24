// Finds free ports of this machine. The ports are below the kernel's ephemeral range, so that no connection or
// `listen(0)` takes them before a process listens later.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The kernel's range begins at 32,768 on Linux and 49,152 on macOS. */
const PORTS = { first: 20_000, afterLast: 32_768 } as const;
const TRIES = 50;

/** Returns a port of 127.0.0.1 on which currently no process listens. */
export function freePort(): Promise<number> {
  return firstUsable(probePort);
}

/**
 * Listens on 127.0.0.1 and returns the port. Uses the port `before` if it is free. Tries ports by listening, because a
 * port that was free may be taken a moment later.
 */
export function listenSomewhere(server: Server, before?: number): Promise<number> {
  return firstUsable((port) => listenUnlessTaken(server, port), before);
}

/** True if currently no process listens on the port. */
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
