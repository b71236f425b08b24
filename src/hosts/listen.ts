// Starts the listener of an HTTP application, and returns its URL.

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Failure } from '#std/failure.ts';

/** Port 0 lets the operating system choose a port. Returns the URL. Throws Failure `listen-failed`. */
export async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  await app.listen({ host, port }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw new Failure('listen-failed', `cannot listen on ${host}:${port}${reason}`, { cause });
  });
  return urlOf(app.server.address());
}

function urlOf(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
