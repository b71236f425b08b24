// Opens a connection to Redis or Valkey that reconnects after each failure.

import assert from 'node:assert/strict';
import { Redis, type RedisOptions } from 'ioredis';
import { hostPort } from '#std/address/address.ts';
import { Failure } from '#std/failure.ts';

export interface RedisSettings {
  /** `host:port`. */
  readonly address: string;
  readonly db: number;
  /** Returns the password. Called before each connection, because passwords rotate. */
  readonly password: () => string | undefined;
}

const CONNECT_MS = 5000;
const COMMAND_MS = 3000;
const RETRY_MAX_MS = 5000;

/** Connects immediately. `lost` receives connection errors for the log. */
export function connectRedis(
  settings: RedisSettings,
  lost: (message: string) => void,
  more: Pick<RedisOptions, 'commandTimeout' | 'enableOfflineQueue'> = {},
): Redis {
  const address = hostPort(settings.address);
  assert(address !== undefined, 'a configuration names its Redis as host:port');
  const options: RedisOptions = {
    ...address,
    db: settings.db,
    password: settings.password(),
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 1,
    retryStrategy: (attempt) => Math.min(attempt * 200, RETRY_MAX_MS),
    ...more,
  };
  const redis = new Redis(options);
  redis.on('error', (error: Error) => {
    redis.options.password = settings.password();
    lost(`${settings.address}: ${error.message}`);
  });
  return redis;
}

export function redisUnreachable({ address }: RedisSettings, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure('redis-unreachable', `Redis at ${address}: ${reason}`, {
    data: { address },
    cause,
    retryable: true,
  });
}
