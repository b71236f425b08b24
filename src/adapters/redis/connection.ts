// A connection to Redis or Valkey that opens itself again. Knows nothing about what is kept there.

import { Redis, type RedisOptions } from 'ioredis';
import { Failure } from '../../std/failure.ts';

export interface RedisSettings {
  /** host:port */
  readonly address: string;
  readonly db: number;
  /** Asked before each connection: passwords rotate. */
  readonly password: () => string | undefined;
}

const CONNECT_MS = 5000;
const COMMAND_MS = 3000;
const RETRY_MAX_MS = 5000;

/** `lost`: what is wrong with the connection, for the log. */
export function connectRedis(settings: RedisSettings, lost: (message: string) => void): Redis {
  const { host, port } = redisAddress(settings.address);
  const options: RedisOptions = {
    host,
    port,
    db: settings.db,
    password: settings.password(),
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 1,
    retryStrategy: (attempt) => Math.min(attempt * 200, RETRY_MAX_MS),
  };
  const redis = new Redis(options);
  redis.on('error', (error: Error) => {
    redis.options.password = settings.password();
    lost(`${settings.address}: ${error.message}`);
  });
  return redis;
}

function redisAddress(address: string): { readonly host: string; readonly port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

export function redisUnreachable({ address }: RedisSettings, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure('redis-unreachable', `Redis at ${address}: ${reason}`, {
    data: { address },
    cause,
    retryable: true,
  });
}
