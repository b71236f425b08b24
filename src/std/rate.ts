// Limits the requests of one client per minute.

import { setBounded } from './bounded.ts';

/** Returns the seconds until the client may send the next request, or undefined if it may send it now. */
export type RateLimit = (address: string) => number | undefined;

interface Bucket {
  /** Requests that may be sent at once. */
  left: number;
  /** Monotonic time in milliseconds. */
  countedAt: number;
}

/**
 * The maximum number of clients that are remembered. Beyond it, the clients without a request for the longest time are
 * forgotten.
 */
const CLIENTS_MAX = 10_000;
/** Seconds whose requests may be sent at once, because a page sends several requests when it is opened. */
const BURST_SECONDS = 15;

/** Creates a limit. `monotonic` returns the monotonic time in milliseconds. */
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

/** Returns the network of an address. A customer of a provider has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':');
  return [0, 1, 2, 3].map((index) => groups[index] ?? '0').join(':');
}
