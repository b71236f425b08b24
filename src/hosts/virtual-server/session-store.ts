// Opens the stores for sessions and rate limits of a virtual server.

import type { Logger } from 'pino';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { openRelay, type Relay } from '#gateway/backends/relay/relay.ts';
import type { BackendObserver } from '#gateway/backends/sessions/observer.ts';
import type { SessionStore } from '#gateway/virtual-server/sessions/ports.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import type { Metrics } from '#std/telemetry/metrics.ts';
import { proxyClock } from '../proxy/clock.ts';
import { type OpenedRateLimits, openRateLimits } from '../rate-limits.ts';

const IDLE_SECONDS = 7200;

export interface Stores {
  /** undefined if sessions stay in this replica. */
  readonly store: SessionStore | undefined;
  readonly relay: Relay | undefined;
  readonly rateLimits: OpenedRateLimits;
  readonly limitInner: OpenedRateLimits['limitInner'];
  close(): Promise<void>;
}

/** Throws a Failure if a store cannot be opened. */
export async function openStores(
  place: StorePlace,
  observer: BackendObserver,
  replica: string,
  metrics: Metrics,
): Promise<Stores> {
  const store = await openStore(place);
  const close = () => store?.close();
  try {
    const relay = await openVirtualRelay(place, observer, replica);
    const rateLimits = await openVirtualRateLimits(place, metrics);
    return {
      ...{ store, relay, rateLimits, limitInner: rateLimits.limitInner },
      async close() {
        rateLimits.close();
        await relay?.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface StorePlace {
  readonly config: VmcpConfig;
  readonly namespace: string;
  readonly environment: Environment;
  readonly logger: Logger;
}

/**
 * Opens the relay through which each replica reaches workflow runs of other replicas. Returns undefined if the
 * configuration has no session store.
 */
async function openVirtualRelay(
  place: StorePlace,
  observer: BackendObserver,
  replica: string,
): Promise<Relay | undefined> {
  const { config, environment, logger } = place;
  const { sessionStorage } = config;
  const secret = environment[VMCP_ENV.sessionHmacSecret];
  if (sessionStorage === undefined || secret === undefined) return undefined;
  const { openChannel } = await import('#adapters/redis/channel.ts');
  const { prefix, ...settings } = storeRedis(place, sessionStorage);
  const channel = openChannel(settings, (message) => {
    logger.warn({ code: 'redis-unreachable', message }, 'the store of sessions cannot be reached');
  });
  try {
    const secrets = [Buffer.from(secret.trim())];
    return await openRelay({ channel, clock: proxyClock, observer, replica, prefix, secrets });
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** `prefix`: prefix of all keys in Redis. */
function storeRedis(
  { config, namespace, environment }: StorePlace,
  { address, db, keyPrefix }: NonNullable<VmcpConfig['sessionStorage']>,
) {
  const password = () => environment[VMCP_ENV.sessionRedisPassword];
  return { address, db, password, prefix: keyPrefix ?? `skep:${namespace}:${config.name}:` };
}

/** Opens the rate limits, which count calls in the Redis of the session store. */
function openVirtualRateLimits(place: StorePlace, metrics: Metrics): Promise<OpenedRateLimits> {
  const { config, logger, namespace } = place;
  const { sessionStorage: storage, name: server } = config;
  const redis = storage && storeRedis(place, storage);
  return openRateLimits({ redis, logger, metrics, server, namespace }, config.rateLimiting);
}

async function openStore(place: StorePlace): Promise<SessionStore | undefined> {
  const { config, environment, logger } = place;
  const { sessionStorage } = config;
  if (sessionStorage === undefined) return undefined;
  if (environment[VMCP_ENV.sessionHmacSecret] === undefined) {
    const message = `/sessionStorage needs the variable ${VMCP_ENV.sessionHmacSecret}: replicas need a common key to read the session ids of each other`;
    throw new Failure('vmcp-config-invalid', message);
  }
  const { openSessionStore } = await import('#adapters/redis/session-store.ts');
  return openSessionStore({ ...storeRedis(place, sessionStorage), idleSeconds: IDLE_SECONDS }, (message) => {
    logger.warn({ code: 'redis-unreachable', message }, 'the store of sessions cannot be reached');
  });
}
