// How much one client may ask in a minute. Knows addresses and times, no requests.

import { setBounded } from './bounded.ts';

/** Seconds until the client may ask again; undefined where it may now. */
export type RateLimit = (address: string) => number | undefined;

interface Bucket {
  /** Requests that may be made at once. */
  left: number;
  /** Monotonic milliseconds. */
  countedAt: number;
}

/** More clients than this are not distinguished for long: those unheard of for longest are forgotten. */
const CLIENTS_MAX = 10_000;
/** What may come at once: a page asks for several things when it is opened. */
const BURST_SECONDS = 15;

/** `monotonic`: milliseconds. */
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

/** One customer of a provider has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':');
  return [0, 1, 2, 3].map((index) => groups[index] ?? '0').join(':');
}
