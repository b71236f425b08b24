// Stores token buckets in Redis or Valkey. One script checks all buckets of a call, in one round trip.

import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Taken, TokenStore } from '#gateway/gate/ports.ts';
import { connectRedis, type RedisSettings, redisUnreachable } from './connection.ts';

export interface TokenBucketsSettings extends RedisSettings {
  /** Prefix of every key. */
  readonly prefix: string;
}

export interface OpenedTokenBuckets {
  readonly take: TokenStore;
  close(): void;
}

/** Timeout in milliseconds of a command. After it, the replica uses its own counters. */
const COMMAND_MS = 500;

/**
 * Takes a token from every bucket. Uses the clock of Redis, which all replicas share. If a bucket is empty, no tokens
 * are taken. A stored time in the future is reset, because otherwise the bucket would stay empty until the clock
 * reaches it. ARGV: maxTokens and refillMs for each key. Returns the position of the first empty bucket (0 if none is
 * empty), and the milliseconds until every bucket has a token.
 */
const TAKE = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local left = {}
local empty = 0
local wait = 0
for i, key in ipairs(KEYS) do
  local max = tonumber(ARGV[2 * i - 1])
  local refill = tonumber(ARGV[2 * i])
  left[i] = max
  local stored = redis.call('HMGET', key, 'tokens', 'at')
  if stored[1] and stored[2] then
    left[i] = math.min(max, stored[1] + math.max(0, now - stored[2]) * max / refill)
    if tonumber(stored[2]) > now then
      redis.call('HSET', key, 'at', string.format('%.3f', now))
      redis.call('PEXPIRE', key, math.ceil(2 * refill))
    end
  end
  if left[i] < 1 then
    if empty == 0 then empty = i end
    wait = math.max(wait, math.ceil((1 - left[i]) * refill / max))
  end
end
if empty > 0 then return {empty, wait} end
for i, key in ipairs(KEYS) do
  redis.call('HSET', key, 'tokens', string.format('%.9f', left[i] - 1), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', key, math.ceil(2 * tonumber(ARGV[2 * i])))
end
return {0, 0}`;

const TAKE_SHA = createHash('sha1').update(TAKE).digest('hex');

/**
 * Resolves when the first connection is open or has failed, or after the timeout of a command. The connection is
 * reopened automatically. `lost` receives connection errors for the log.
 */
export async function openTokenBuckets(
  settings: TokenBucketsSettings,
  lost: (message: string) => void,
): Promise<OpenedTokenBuckets> {
  const redis = connectRedis(settings, lost, { commandTimeout: COMMAND_MS, enableOfflineQueue: false });
  await new Promise<void>((resolve) => {
    redis.once('ready', resolve);
    redis.once('close', resolve);
    setTimeout(resolve, COMMAND_MS).unref();
  });
  return {
    async take(buckets) {
      const values = buckets.flatMap(({ maxTokens, refillMs }) => [maxTokens, refillMs]);
      const given = [buckets.length, ...buckets.map(({ key }) => settings.prefix + key), ...values];
      try {
        return takenOf(await runScript(redis, given), buckets.length);
      } catch (cause) {
        throw redisUnreachable(settings, cause);
      }
    },
    close: () => redis.disconnect(),
  };
}

/**
 * Runs the script by its digest. Sends the script itself if the server does not know the digest, as after a restart.
 */
async function runScript(redis: Redis, given: readonly (string | number)[]): Promise<unknown> {
  try {
    return await redis.call('evalsha', TAKE_SHA, ...given);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.call('eval', TAKE, ...given);
  }
}

function takenOf(answer: unknown, buckets: number): Taken {
  const [empty, waitMs]: unknown[] = Array.isArray(answer) ? answer : [];
  if (!isCount(empty) || !isCount(waitMs) || empty > buckets) throw new Error(`the script answered ${String(answer)}`);
  return empty === 0 ? { ok: true } : { ok: false, empty: empty - 1, waitMs };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
