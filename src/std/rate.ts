// Limits the number of requests per minute for each client.

import { setBounded } from './bounded.ts';

/**
 * Returns the seconds until the client may send the next request. Returns undefined if the client may send a request
 * now.
 */
export type RateLimit = (address: string) => number | undefined;

interface Bucket {
  /** Number of requests that the client may send now. */
  left: number;
  /** In monotonic milliseconds. */
  countedAt: number;
}

/** Maximum number of remembered clients. Clients without a request for the longest time are forgotten first. */
const CLIENTS_MAX = 10_000;
/** A client may send the requests of this many seconds at once, because a page sends several requests when it opens. */
const BURST_SECONDS = 15;

/** `monotonic` returns milliseconds. */
export function createRateLimit(requestsPerMinute: number, monotonic: () => number): RateLimit {
  const perMs = requestsPerMinute / 60_000;
  const size = Math.max(10, perMs * 1000 * BURST_SECONDS);
  const clients = new Map<string, Bucket>();
  return (address) => {
    const client = networkOf(address);
    const now = monotonic();
    const known = clients.get(client) ?? { left: size, countedAt: now };
    const left = Math.min(size, known.left + (now - known.countedAt) * perMs);
    const allowed = left >= 1;
    setBounded(clients, client, { left: allowed ? left - 1 : left, countedAt: now }, CLIENTS_MAX);
    return allowed ? undefined : Math.ceil((1 - left) / perMs / 1000);
  };
}

/** Returns the network of an address. IPv6 clients often have a whole /64. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':');
  return [0, 1, 2, 3].map((index) => groups[index] ?? '0').join(':');
}
