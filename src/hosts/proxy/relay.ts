// Connects the replicas of a proxy through Redis or Valkey, so that each replica reaches sessions of the other
// replicas.

import type { Logger } from 'pino';
import { type RunConfig, SECRET_ENV } from '#contracts/run-config.ts';
import { openRelay, type Relay } from '#gateway/backends/relay/relay.ts';
import type { BackendObserver } from '#gateway/backends/sessions/observer.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';

export interface RelayOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly observer: BackendObserver;
  readonly replica: string;
  readonly sessionKeys: readonly Buffer[];
}

/**
 * Returns undefined if the configuration names no Redis: sessions then stay with their replica. Throws a Failure if
 * Redis cannot be reached at the start.
 */
export async function openProxyRelay(options: RelayOptions): Promise<Relay | undefined> {
  const { config, logger, observer, replica, sessionKeys: secrets } = options;
  const redis = config.scaling_config?.session_redis;
  if (redis === undefined) return undefined;
  if (config.session_key_files === undefined) {
    throw new Failure(
      'proxy-config-invalid',
      '/scaling_config/session_redis needs /session_key_files: replicas need a common key to read the session ids of each other',
    );
  }
  const { openChannel } = await import('#adapters/redis/channel.ts');
  const { prefix, ...settings } = sessionRedis(redis, options);
  const channel = openChannel(settings, (message) => {
    logger.warn({ code: 'redis-unreachable', message }, 'the store of sessions cannot be reached');
  });
  try {
    return await openRelay({ channel, clock: proxyClock, observer, replica, prefix, secrets });
  } catch (error) {
    await channel.close();
    throw error;
  }
}

type SessionRedis = NonNullable<NonNullable<RunConfig['scaling_config']>['session_redis']>;

/** `prefix`: prefix of all keys in Redis. */
export function sessionRedis(
  { address, db, key_prefix, password_file: file }: SessionRedis,
  { config, environment, files }: Pick<RelayOptions, 'config' | 'environment' | 'files'>,
) {
  const password = () => (file === undefined ? environment[SECRET_ENV.sessionRedisPassword] : files.read(file).trim());
  return { address, db, password, prefix: key_prefix ?? `skep:${config.namespace}:${config.name}:` };
}
