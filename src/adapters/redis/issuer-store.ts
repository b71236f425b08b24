// Keeps the records of an authorization server in Redis or Valkey behind Sentinels, for all of its replicas.

import { Redis, type RedisOptions } from 'ioredis';
import type { IssuerStore } from '#gateway/issuer/ports.ts';
import { Failure } from '#std/failure.ts';

export interface TlsSettings {
  /** PEM certificates that are trusted alone; absent: those of the system. */
  readonly ca?: string;
  readonly skipVerify: boolean;
}

export interface SentinelSettings {
  readonly masterName: string;
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  readonly db: number;
  /** Asked for each connection: Secrets rotate. */
  readonly user: () => { readonly name: string; readonly password: string };
  /** What every key begins with. */
  readonly keyPrefix: string;
  readonly connectMs: number;
  /** Sending a command and its answer, together. */
  readonly commandMs: number;
  /** Undefined: the connection to the master is plain. */
  readonly tls?: TlsSettings;
  /** Undefined: those to the Sentinels are plain, whatever `tls` is. */
  readonly sentinelTls?: TlsSettings;
}

export interface RedisIssuerStore extends IssuerStore {
  close(): void;
}

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 2000;
/** Of a command while the connection is made again: a failover should cost a moment, not an error. */
const RETRIES = 20;

/** One step on the server: no one gets in between. */
const REPLACE = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/** Connects at once and again after each failure. `lost`: what is wrong with the connection, for the log. */
export function openRedisIssuerStore(settings: SentinelSettings, lost: (message: string) => void): RedisIssuerStore {
  const redis = connectMaster(settings, lost);
  const where = settings.masterName;
  async function ask<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const options = { data: { address: where }, cause, retryable: true };
      throw new Failure('redis-unreachable', `Redis master ${where}: ${reason}`, options);
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
      if (keys.length > 0) await ask(redis.del(...keys));
    },
    close: () => redis.disconnect(),
  };
}

/** Redis refuses what has no time left. */
function lifeMs(ttlMs: number): number {
  return Math.max(1, Math.round(ttlMs));
}

function connectMaster(settings: SentinelSettings, lost: (message: string) => void): Redis {
  const { name, password } = settings.user();
  const retryStrategy = (attempt: number) => Math.min(attempt * RETRY_MIN_MS, RETRY_MAX_MS);
  const options: RedisOptions = {
    sentinels: settings.sentinels.map((each) => ({ ...each })),
    name: settings.masterName,
    role: 'master',
    db: settings.db,
    username: name,
    password,
    keyPrefix: settings.keyPrefix,
    connectTimeout: settings.connectMs,
    sentinelCommandTimeout: settings.commandMs,
    commandTimeout: settings.commandMs,
    maxRetriesPerRequest: RETRIES,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
    // A master that was made a replica answers READONLY: the Sentinels know the new one, which gets the command again.
    reconnectOnError: ({ message }) => (message.startsWith('READONLY') ? 2 : false),
    // Its name says otherwise, but it is about the master alone.
    ...(settings.tls === undefined ? {} : { enableTLSForSentinelMode: true, tls: tlsOptions(settings.tls) }),
    ...(settings.sentinelTls === undefined ? {} : { sentinelTLS: tlsOptions(settings.sentinelTls) }),
    failoverDetector: true,
  };
  const redis = new Redis(options);
  function readAgain(): void {
    const user = settings.user();
    redis.options.username = user.name;
    redis.options.password = user.password;
  }
  redis.on('close', readAgain);
  redis.on('error', (error: Error) => lost(`Redis master ${settings.masterName}: ${error.message}`));
  return redis;
}

function tlsOptions({ ca, skipVerify }: TlsSettings): { readonly ca?: string; readonly rejectUnauthorized: boolean } {
  return { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: !skipVerify };
}
