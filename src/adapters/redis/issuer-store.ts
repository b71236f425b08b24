// Stores the records of an authorization server for all its replicas. Supports a single Redis or Valkey server, a
// cluster, and a server behind Sentinels.

import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { IssuerStore } from '#gateway/issuer/ports.ts';
import { Failure } from '#std/failure.ts';

export interface TlsSettings {
  /** PEM certificates that replace the system's trusted roots. */
  readonly ca?: string;
  readonly skipVerify: boolean;
}

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

export type RedisPlace =
  | {
      readonly kind: 'sentinels';
      readonly masterName: string;
      readonly sentinels: readonly RedisAddress[];
      readonly db: number;
    }
  | { readonly kind: 'server' | 'cluster'; readonly address: RedisAddress };

export interface IssuerStoreSettings {
  readonly place: RedisPlace;
  /**
   * Returns the user, which is the default user if `name` is absent. Called for each connection, because Secrets
   * rotate.
   */
  readonly user: () => { readonly name?: string; readonly password: string };
  /** Prefix of every key. */
  readonly keyPrefix: string;
  readonly connectMs: number;
  /** Timeout in milliseconds of a command, including its response. */
  readonly commandMs: number;
  /** If undefined, connections to the server do not use TLS. */
  readonly tls?: TlsSettings;
  /** If undefined, connections to the Sentinels do not use TLS, even if `tls` is set. */
  readonly sentinelTls?: TlsSettings;
}

export interface RedisIssuerStore extends IssuerStore {
  close(): void;
}

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 2000;
/** Retries of a command during reconnects. A failover should delay commands instead of failing them. */
const RETRIES = 20;

/** A script, because no other command may be executed between its steps. */
const REPLACE = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/** Connects immediately, and again after each failure. `lost` receives connection errors for the log. */
export function openRedisIssuerStore(settings: IssuerStoreSettings, lost: (message: string) => void): RedisIssuerStore {
  const where = placeName(settings.place);
  const report = (error: Error) => lost(`${where}: ${error.message}`);
  const redis = connect(settings, report);
  async function ask<T>(command: Promise<T>): Promise<T> {
    try {
      return await withinTime(command, settings.commandMs);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const options = { data: { address: where }, cause, retryable: true };
      throw new Failure('redis-unreachable', `${where}: ${reason}`, options);
    }
  }
  return {
    get: async (key) => (await ask(redis.get(key))) ?? undefined,
    async set(key, value, ttlMs) {
      await ask(redis.set(key, value, 'PX', lifeMs(ttlMs)));
    },
    add: async (key, value, ttlMs) => (await ask(redis.set(key, value, 'PX', lifeMs(ttlMs), 'NX'))) === 'OK',
    take: async (key) => (await ask(redis.getdel(key))) ?? undefined,
    replace: async (key, from, to, ttlMs) =>
      (await ask(redis.call('eval', REPLACE, 1, key, from, to, lifeMs(ttlMs)))) === 1,
    async delete(keys) {
      // One command per key, because the keys may be in different slots of a cluster.
      await Promise.all(keys.map((key) => ask(redis.del(key))));
    },
    close: () => redis.disconnect(),
  };
}

/** Enforces the timeout of a command. The cluster client's own timeout has no effect until it knows a node. */
async function withinTime<T>(command: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Command timed out')), ms);
  });
  try {
    return await Promise.race([command, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a lifetime of at least 1 ms, because Redis refuses zero and negative lifetimes. */
function lifeMs(ttlMs: number): number {
  return Math.max(1, Math.round(ttlMs));
}

function placeName(place: RedisPlace): string {
  if (place.kind === 'sentinels') return `Redis master ${place.masterName}`;
  const { host, port } = place.address;
  return `Redis ${place.kind} ${host}:${port}`;
}

function connect(settings: IssuerStoreSettings, report: (error: Error) => void): Redis | Cluster {
  const { place } = settings;
  return place.kind === 'cluster' ? connectCluster(settings, place.address, report) : connectServer(settings, report);
}

const retryStrategy = (attempt: number) => Math.min(attempt * RETRY_MIN_MS, RETRY_MAX_MS);

function serverOptions(settings: IssuerStoreSettings): RedisOptions {
  const { name, password } = settings.user();
  return {
    ...(name === undefined ? {} : { username: name }),
    password,
    connectTimeout: settings.connectMs,
    commandTimeout: settings.commandMs,
    maxRetriesPerRequest: RETRIES,
    retryStrategy,
  };
}

function connectServer(settings: IssuerStoreSettings, report: (error: Error) => void): Redis {
  const redis = new Redis({ ...serverOptions(settings), keyPrefix: settings.keyPrefix, ...placeOptions(settings) });
  redis.on('close', () => useUserAgain(redis, settings, report));
  redis.on('error', report);
  return redis;
}

function placeOptions({ place, commandMs, tls, sentinelTls }: IssuerStoreSettings): RedisOptions {
  if (place.kind !== 'sentinels') return { ...place.address, ...(tls === undefined ? {} : { tls: tlsOptions(tls) }) };
  return {
    sentinels: place.sentinels.map((each) => ({ ...each })),
    name: place.masterName,
    role: 'master',
    db: place.db,
    sentinelCommandTimeout: commandMs,
    sentinelRetryStrategy: retryStrategy,
    // A former master that has become a replica responds READONLY. The client then finds the new master through the
    // Sentinels and repeats the command.
    reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
    // Despite its name, this option applies only to the master.
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, tls: tlsOptions(tls) }),
    ...(sentinelTls === undefined ? {} : { sentinelTLS: tlsOptions(sentinelTls) }),
    failoverDetector: true,
  };
}

function connectCluster(settings: IssuerStoreSettings, address: RedisAddress, report: (error: Error) => void): Cluster {
  const { keyPrefix, tls } = settings;
  const redisOptions = { ...serverOptions(settings), ...(tls === undefined ? {} : { tls: tlsOptions(tls) }) };
  const cluster = new Cluster([{ ...address }], {
    keyPrefix,
    redisOptions,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: settings.connectMs,
    // Keeps the host name instead of its address, because certificates contain names.
    dnsLookup: (name, found) => found(null, name),
  });
  cluster.on('+node', (node: Redis) => node.on('close', () => useUserAgain(node, settings, report)));
  cluster.on('node error', report);
  cluster.on('error', (error: Error) => {
    report(error);
    useUserAgain({ options: redisOptions }, settings, report);
  });
  return cluster;
}

/** Reads the user for the next connection, because the Secret may have changed. */
function useUserAgain(
  { options }: { readonly options: RedisOptions },
  { user }: IssuerStoreSettings,
  report: (error: Error) => void,
): void {
  try {
    const { name, password } = user();
    options.username = name;
    options.password = password;
  } catch (error) {
    // The next connection uses the old user. An error thrown in a listener would end the process.
    if (!(error instanceof Failure)) throw error;
    report(error);
  }
}

function tlsOptions({ ca, skipVerify }: TlsSettings): { readonly ca?: string; readonly rejectUnauthorized: boolean } {
  return { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: !skipVerify };
}
