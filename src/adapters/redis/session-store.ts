// Stores each session of a virtual server as a hash in Redis or Valkey.

import type { SessionStore } from '#gateway/virtual-server/sessions/ports.ts';
import { connectRedis, type RedisSettings, redisUnreachable } from './connection.ts';

export interface StoreSettings extends RedisSettings {
  /** Prefix of every key. */
  readonly prefix: string;
  /** Seconds after its last use at which a session is deleted. */
  readonly idleSeconds: number;
}

/** Rejects with Failure `redis-unreachable` if the first connection fails. */
export async function openSessionStore(
  settings: StoreSettings,
  lost: (message: string) => void,
): Promise<SessionStore> {
  const redis = connectRedis(settings, lost);
  const { prefix, idleSeconds } = settings;
  const key = (id: string) => `${prefix}session:${id}`;

  async function reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw redisUnreachable(settings, cause);
    }
  }

  try {
    await reach(() => redis.ping());
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    begin: (id, fields) =>
      reach(async () => {
        await redis.multi().hset(key(id), fields).expire(key(id), idleSeconds).exec();
      }),
    load: (id) =>
      reach(async () => {
        const fields = await redis.hgetall(key(id));
        if (Object.keys(fields).length === 0) return undefined;
        await redis.expire(key(id), idleSeconds);
        return fields;
      }),
    claim: (id, field, value) =>
      reach(async () => {
        const set = await redis.hsetnx(key(id), field, value);
        return set === 1 ? value : ((await redis.hget(key(id), field)) ?? value);
      }),
    set: (id, field, value) => reach(async () => void (await redis.hset(key(id), field, value))),
    remove: (id, field) => reach(async () => void (await redis.hdel(key(id), field))),
    touch: (id) => reach(async () => (await redis.expire(key(id), idleSeconds)) === 1),
    end: (id) => reach(async () => void (await redis.del(key(id)))),
    async close() {
      redis.disconnect();
    },
  };
}
