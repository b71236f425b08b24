// Opens outbound connections to permitted addresses only.

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import type { buildConnector as Connector } from 'undici';
import { Failure } from '#std/failure.ts';
import type { AddressGuard } from './addresses.ts';
import type { Egress } from './egress.ts';
import { openTunnel } from './tunnel.ts';
import { buildConnector } from './undici.ts';

/** Returns all addresses of a host name. Rejects with the resolver's error. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export function resolveBySystem(hostname: string): Promise<readonly LookupAddress[]> {
  return lookup(hostname, { all: true });
}

export interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  /** Trusted root certificates as PEM. Default: the system's. */
  readonly ca?: readonly string[];
  /**
   * Trusted root certificates for an https proxy. `ca` may be for one target only, so it does not apply to the proxy.
   * Default: the system's.
   */
  readonly proxyCa?: readonly string[];
  /** PEM client certificate and key. */
  readonly identity?: { readonly cert: string; readonly key: string } | undefined;
  /** If true, the server's certificate is not verified. */
  readonly skipVerify?: boolean;
  readonly connectTimeoutMs: number;
  /** Selects the proxy of a connection. Default: no proxy. */
  readonly egress?: Egress | undefined;
}

/**
 * Creates a connector for undici. The guard checks the DNS result that is used for the connection. DNS rebinding (a
 * changed result after the check) thus has no effect.
 */
export function guardedConnector(options: ConnectorOptions): Connector.connector {
  const { guard, ca, connectTimeoutMs } = options;
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(options),
    ca: ca && [...ca],
    ...options.identity,
    rejectUnauthorized: options.skipVerify !== true,
  });
  return function connectGuarded(target, callback) {
    const literal = target.hostname.startsWith('[') ? target.hostname.slice(1, -1) : target.hostname;
    const refusal = isIP(literal) === 0 ? undefined : guard(literal);
    if (refusal !== undefined) return callback(addressRefused(literal, literal, refusal), null);
    const proxy = options.egress?.(new URL(`${target.protocol}//${target.hostname}:${target.port}`));
    if (proxy === undefined) return connect(target, callback);
    throughProxy(options, proxy, target).then(
      (socket) =>
        target.protocol === 'https:' ? connect({ ...target, httpSocket: socket }, callback) : callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

/**
 * Connects through the proxy, which resolves the name itself. If this machine can also resolve the name, at least one
 * of its addresses must be permitted.
 */
async function throughProxy(
  options: ConnectorOptions,
  proxy: string,
  { hostname, port, protocol }: Connector.Options,
): Promise<Socket> {
  await resolvePermitted(options, hostname).catch((error: unknown) => {
    if (error instanceof Failure) throw error;
  });
  const { proxyCa: ca, connectTimeoutMs: timeoutMs } = options;
  const asked = port || (protocol === 'https:' ? '443' : '80');
  return openTunnel({ proxy: new URL(proxy), hostname, port: asked, ca, timeoutMs });
}

/**
 * Returns the permitted addresses of a host name or IP literal in the resolver's order. Throws if no address is
 * permitted. For callers that do not connect through undici.
 */
export async function resolvePermitted(
  { guard, resolve }: Pick<ConnectorOptions, 'guard' | 'resolve'>,
  hostname: string,
): Promise<readonly string[]> {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const family = isIP(literal);
  const addresses = family === 0 ? await resolve(hostname) : [{ address: literal, family }];
  const permitted = addresses.filter(({ address }) => guard(address) === undefined);
  if (permitted.length === 0) throw noneLeft(guard, literal, addresses);
  return permitted.map(({ address }) => address);
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

function guardedLookup({ guard, resolve }: ConnectorOptions) {
  return function lookupPermitted(hostname: string, lookupOptions: LookupOptions, callback: LookupCallback): void {
    resolve(hostname).then(
      (addresses) => {
        const matching = addresses.filter(({ family }) => !lookupOptions.family || lookupOptions.family === family);
        const permitted = matching.filter(({ address }) => guard(address) === undefined);
        const [first] = permitted;
        if (first === undefined) return callback(noneLeft(guard, hostname, matching), '');
        if (lookupOptions.all === true) return callback(null, permitted);
        callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

function noneLeft(guard: AddressGuard, hostname: string, addresses: readonly LookupAddress[]): Error {
  const [first] = addresses;
  if (first === undefined) return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  return addressRefused(hostname, first.address, guard(first.address) ?? 'a refused address');
}

function addressRefused(hostname: string, address: string, what: string): Failure {
  const subject = hostname === address ? address : `${hostname} resolves to ${address}, which`;
  return new Failure('outbound-refused-address', `${subject} is ${what}`, { data: { hostname, address } });
}
