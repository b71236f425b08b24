// Topics between replicas over Redis or Valkey (PUBLISH, SUBSCRIBE). Knows nothing about what is sent.

import { Redis, type RedisOptions } from 'ioredis';
import type { Channel } from '../../backends/relay/ports.ts';
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

/** `lost`: what is wrong with the connection, for the log; it is opened again by itself. */
export function openChannel(settings: RedisSettings, lost: (message: string) => void): Channel {
  const sender = connect(settings, lost);
  const listener = connect(settings, lost);
  const topics = new Map<string, (message: Buffer) => void>();
  listener.on('messageBuffer', (topic: Buffer, message: Buffer) => topics.get(topic.toString())?.(message));
  return {
    async publish(topic, message) {
      try {
        return (await sender.publish(topic, message)) > 0;
      } catch (cause) {
        throw unreachable(settings, cause);
      }
    },
    async listen(topic, received) {
      topics.set(topic, received);
      try {
        await listener.subscribe(topic);
      } catch (cause) {
        throw unreachable(settings, cause);
      }
    },
    async close() {
      sender.disconnect();
      listener.disconnect();
    },
  };
}

function connect(settings: RedisSettings, lost: (message: string) => void): Redis {
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

function unreachable({ address }: RedisSettings, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure('redis-unreachable', `Redis at ${address}: ${reason}`, {
    data: { address },
    cause,
    retryable: true,
  });
}
