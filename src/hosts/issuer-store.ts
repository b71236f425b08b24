// Opens the storage for the records of an authorization server: memory or Redis, as the server's configuration says.

import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import type { IssuerStoreSettings, RedisAddress, RedisPlace, TlsSettings } from '#adapters/redis/issuer-store.ts';
import type { AuthServerConfig } from '#contracts/auth-server/config.ts';
import { configInvalid } from '#gateway/issuer/config-fault.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerStore } from '#gateway/issuer/ports.ts';
import { hostPort } from '#std/address/address.ts';
import { parseDuration } from '#std/duration.ts';
import type { Environment } from '#std/environment.ts';
import { proxyClock } from './proxy/clock.ts';
import type { WatchedFiles } from './watched-files.ts';

interface RecordsOptions {
  readonly config: AuthServerConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
}

interface OpenRecords {
  readonly store: IssuerStore;
  readonly close: () => void;
}

type Redis = NonNullable<AuthServerConfig['storage']['redis_config']>;

/**
 * Throws a Failure if a setting or a secret cannot be used. An unavailable Redis is not an error: the store connects
 * again later.
 */
export async function openIssuerRecords(options: RecordsOptions): Promise<OpenRecords> {
  const { config, logger } = options;
  const { type, redis_config: redis } = config.storage;
  if (type === 'memory') {
    logger.warn(
      { code: 'issuer-storage-memory' },
      'logins are kept in the memory of this process: they are lost at a restart and unknown to other replicas',
    );
    return { store: createMemoryStore(proxyClock), close: () => undefined };
  }
  assert(redis !== undefined, 'the settings of the issuer were read before its records are opened');
  const { openRedisIssuerStore } = await import('#adapters/redis/issuer-store.ts');
  const store = openRedisIssuerStore(storeSettings(redis, options), (message) =>
    logger.warn({ code: 'redis-unreachable' }, message),
  );
  return { store, close: store.close };
}

function storeSettings(redis: Redis, options: RecordsOptions): IssuerStoreSettings {
  const { tls, sentinel_tls: sentinelTls } = redis;
  const user = userOf(redis, options);
  // Throws now, at the start, if a secret is missing.
  user();
  return {
    place: redisPlace(redis),
    user,
    keyPrefix: redis.key_prefix,
    connectMs: timeoutOf(redis, 'dial_timeout'),
    commandMs: timeoutOf(redis, 'read_timeout') + timeoutOf(redis, 'write_timeout'),
    tls: tls && tlsOf(tls, options),
    sentinelTls: sentinelTls && tlsOf(sentinelTls, options),
  };
}

function redisPlace({ addr, cluster_mode: isCluster, sentinel_config: sentinel }: Redis): RedisPlace {
  const place = '/storage/redis_config';
  if ((addr === undefined) === (sentinel === undefined)) {
    throw configInvalid(place, 'needs one of addr and sentinel_config, which locate Redis');
  }
  if (addr !== undefined) {
    return { kind: isCluster === true ? 'cluster' : 'server', address: hostAndPort(addr, `${place}/addr`) };
  }
  if (isCluster === true) throw configInvalid(`${place}/cluster_mode`, 'needs addr: Sentinels do not support clusters');
  const { master_name: masterName = '', sentinel_addrs: addresses = [], db = 0 } = sentinel ?? {};
  const sentinels = addresses.map((address, index) => {
    return hostAndPort(address, `${place}/sentinel_config/sentinel_addrs/${index}`);
  });
  return { kind: 'sentinels', masterName, sentinels, db };
}

function userOf({ acl_user_config: user }: Redis, { environment, files }: RecordsOptions): IssuerStoreSettings['user'] {
  const isDefault = user.username_file === undefined && user.username_env_var === undefined;
  function secretOf(part: 'username' | 'password'): string {
    const { [`${part}_file` as const]: file, [`${part}_env_var` as const]: variable } = user;
    const text = file === undefined ? environment[variable ?? ''] : files.read(file);
    if (text !== undefined && text.trim() !== '') return text.trim();
    const place = `/storage/redis_config/acl_user_config/${part}_file`;
    throw configInvalid(place, `or the variable must contain the ${part} of the user, and neither does`);
  }
  return () => ({ ...(isDefault ? {} : { name: secretOf('username') }), password: secretOf('password') });
}

function hostAndPort(address: string, place: string): RedisAddress {
  const found = hostPort(address);
  if (found !== undefined) return found;
  throw configInvalid(place, `must be host:port, not ${address}`);
}

function timeoutOf(redis: Redis, key: 'dial_timeout' | 'read_timeout' | 'write_timeout'): number {
  const ms = parseDuration(redis[key]);
  if (ms !== undefined && ms > 0) return ms;
  throw configInvalid(`/storage/redis_config/${key}`, `must be a duration above 0, not ${redis[key]}`);
}

function tlsOf(
  { insecure_skip_verify: skipVerify, ca_cert_file: file }: NonNullable<Redis['tls']>,
  { files }: RecordsOptions,
): TlsSettings {
  return { skipVerify, ca: file === undefined ? undefined : files.read(file) };
}
