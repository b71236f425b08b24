// Opens the rate limits of a proxy or virtual server. All replicas share their counts of calls in Redis.

import type { Logger } from 'pino';
import type { RedisSettings } from '#adapters/redis/connection.ts';
import type { OpenedTokenBuckets } from '#adapters/redis/token-buckets.ts';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import type { TokenBucket } from '#gateway/gate/ports.ts';
import { createRateLimits, type RateLimits } from '#gateway/gate/rate-limits.ts';
import { takeWithFallback } from '#gateway/gate/token-store.ts';
import { userOfCaller } from '#gateway/proxy/caller.ts';
import { parseDuration } from '#std/duration.ts';
import { Failure } from '#std/failure.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { proxyClock } from './proxy/clock.ts';

export interface RateLimitParts {
  /** undefined if the configuration names no Redis. `prefix`: prefix of all keys. */
  readonly redis: (RedisSettings & { readonly prefix: string }) | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly server: string;
  readonly namespace: string;
}

export interface OpenedRateLimits {
  /** Replaces the limits by the limits of the configuration. Throws Failure `proxy-config-invalid`. */
  use(config: Pick<RunConfig, 'rate_limiting' | 'oidc_config'>): RateLimits | undefined;
  /**
   * Counts a call to `tool` that one of the virtual server's own tools makes. Returns the seconds to wait if a limit
   * refuses the call.
   */
  limitInner(cause: Exchange, tool: string): Promise<number | undefined>;
  close(): void;
}

/**
 * Connects to Redis now if `fields` is set. If a later configuration is the first with limits, the first counted call
 * connects.
 */
export async function openRateLimits(
  parts: RateLimitParts,
  fields: RateLimitFields | undefined,
): Promise<OpenedRateLimits> {
  const store = storeOf(parts);
  if (fields !== undefined && parts.redis !== undefined) await store.open();
  const counters = addCounters(parts.metrics);
  const take = takeWithFallback({ store: store.take, now: proxyClock.monotonic, changed: reportStore(parts) });
  let inForce: RateLimits | undefined;
  return {
    use(config) {
      inForce = config.rate_limiting && counted(createRateLimits(settingsOf(parts, config), take), parts, counters);
      return inForce;
    },
    async limitInner({ caller }, tool) {
      const counting = inForce?.take({ user: userOfCaller(caller), tools: [tool], isInner: true });
      return (await counting)?.denial?.retryAfterSeconds;
    },
    close: store.close,
  };
}

/**
 * Keys contain namespace and name of the server, because servers may share one `prefix`. The braces keep all keys of a
 * server in one slot of a Redis Cluster.
 */
function storeOf({ redis, logger, namespace, server }: RateLimitParts) {
  let opened: Promise<OpenedTokenBuckets> | undefined;
  let closed = false;
  async function openNow(): Promise<OpenedTokenBuckets> {
    if (redis === undefined) throw new Failure('proxy-config-invalid', NO_REDIS);
    const { openTokenBuckets } = await import('#adapters/redis/token-buckets.ts');
    const settings = { ...redis, prefix: `${redis.prefix}limits:{${namespace}/${server}}:` };
    return openTokenBuckets(settings, (message) =>
      logger.debug({ code: 'redis-unreachable', message }, 'Redis is unavailable'),
    );
  }
  function open(): Promise<OpenedTokenBuckets> {
    opened ??= openNow();
    return opened;
  }
  return {
    open,
    take: async (...given: Parameters<OpenedTokenBuckets['take']>) => (await open()).take(...given),
    close() {
      if (closed) return;
      closed = true;
      void opened?.then((buckets) => buckets.close());
    },
  };
}

const NO_REDIS = '/rate_limiting needs /scaling_config/session_redis: replicas share their counts of calls there';
const NO_USERS = '/rate_limiting limits each user, and /oidc_config is absent: without it no caller is known';

function settingsOf({ redis }: RateLimitParts, config: Pick<RunConfig, 'rate_limiting' | 'oidc_config'>) {
  const { shared, perUser, tools = [] } = config.rate_limiting ?? {};
  const perUsers = [perUser, ...tools.map((tool) => tool.perUser)];
  if (redis === undefined) throw new Failure('proxy-config-invalid', NO_REDIS);
  if (config.oidc_config === undefined && perUsers.some((bucket) => bucket !== undefined))
    throw new Failure('proxy-config-invalid', NO_USERS);
  return {
    shared: bucketOf(shared),
    perUser: bucketOf(perUser),
    tools: new Map(
      tools.map((tool) => [tool.name, { shared: bucketOf(tool.shared), perUser: bucketOf(tool.perUser) }]),
    ),
  };
}

function bucketOf(fields: RateLimitFields['shared']): TokenBucket | undefined {
  if (fields === undefined) return undefined;
  const refillMs = parseDuration(fields.refillPeriod) ?? 0;
  if (refillMs > 0) return { maxTokens: fields.maxTokens, refillMs };
  throw new Failure(
    'proxy-config-invalid',
    `/rate_limiting: refillPeriod ${fields.refillPeriod} is not longer than 0s`,
  );
}

type Counters = ReturnType<typeof addCounters>;

function addCounters(metrics: Metrics) {
  return {
    refusals: metrics.counter(
      'skep_proxy_rate_limit_refusals_total',
      'Calls that a limit of all replicas refused, by limit; steps of workflows are counted as well.',
      ['server', 'reason'],
    ),
    alone: metrics.counter(
      'skep_proxy_rate_limits_alone_total',
      'Calls that a replica counted by itself, because Redis could not be reached.',
      ['server'],
    ),
  };
}

function counted(limits: RateLimits, { server }: RateLimitParts, { refusals, alone }: Counters): RateLimits {
  return {
    take: (call) =>
      limits.take(call)?.then((result) => {
        if (result.isAlone) alone.add([server]);
        if (result.denial !== undefined) refusals.add([server, result.denial.code]);
        return result;
      }),
  };
}

function reportStore({ logger }: RateLimitParts) {
  return (isReached: boolean, error?: unknown): void => {
    const code = 'rate-limits-counted-alone';
    if (isReached) logger.info('Redis answers again: all replicas count calls together');
    else {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ code, reason }, 'Redis cannot be reached: this replica counts calls by itself');
    }
  };
}
