// Where the records of an authorization server are kept, as its configuration says: in this process, or in Redis.

import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import type { SentinelSettings, TlsSettings } from '#adapters/redis/issuer-store.ts';
import type { AuthServerConfig } from '#contracts/auth-server-config.ts';
import { createMemoryStore } from '#gateway/issuer/memory-store.ts';
import type { IssuerStore } from '#gateway/issuer/ports.ts';
import { configInvalid } from '#gateway/issuer/settings.ts';
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

/** Throws a Failure where a setting or a secret cannot be used; a Redis that is away is asked again. */
export async function openIssuerRecords(options: RecordsOptions): Promise<OpenRecords> {
  const { config, logger } = options;
  const { type, redis_config: redis } = config.storage;
  if (type === 'memory') {
    logger.warn(
      { code: 'issuer-storage-memory' },
      'logins are kept in this process: a restart and other replicas do not know them',
    );
    return { store: createMemoryStore(proxyClock), close: () => undefined };
  }
  assert(redis !== undefined, 'the settings of the issuer were read before its records are opened');
  const { openRedisIssuerStore } = await import('#adapters/redis/issuer-store.ts');
  const store = openRedisIssuerStore(sentinelSettings(redis, options), (message) =>
    logger.warn({ code: 'redis-unreachable' }, message),
  );
  return { store, close: store.close };
}

function sentinelSettings(redis: Redis, options: RecordsOptions): SentinelSettings {
  const { sentinel_config: sentinel, tls, sentinel_tls: sentinelTls } = redis;
  const user = userOf(redis, options);
  // What is missing stops the start.
  user();
  return {
    masterName: sentinel.master_name,
    sentinels: sentinel.sentinel_addrs.map(hostAndPort),
    db: sentinel.db,
    user,
    keyPrefix: redis.key_prefix,
    connectMs: timeoutOf(redis, 'dial_timeout'),
    commandMs: timeoutOf(redis, 'read_timeout') + timeoutOf(redis, 'write_timeout'),
    tls: tls && tlsOf(tls, options),
    sentinelTls: sentinelTls && tlsOf(sentinelTls, options),
  };
}

function userOf({ acl_user_config: user }: Redis, { environment, files }: RecordsOptions): SentinelSettings['user'] {
  function secretOf(part: 'username' | 'password'): string {
    const { [`${part}_file` as const]: file, [`${part}_env_var` as const]: variable } = user;
    const text = file === undefined ? environment[variable ?? ''] : files.read(file);
    if (text !== undefined && text.trim() !== '') return text.trim();
    const place = `/storage/redis_config/acl_user_config/${part}_file`;
    throw configInvalid(place, `or the variable must give the ${part} of the user, and neither does`);
  }
  return () => ({ name: secretOf('username'), password: secretOf('password') });
}

function hostAndPort(address: string, index: number): { readonly host: string; readonly port: number } {
  const found = hostPort(address);
  if (found !== undefined) return found;
  const place = `/storage/redis_config/sentinel_config/sentinel_addrs/${index}`;
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
