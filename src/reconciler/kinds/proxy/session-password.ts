// Renders the Redis for sessions into the configuration of a proxy. Renders its password as a reference, as an
// environment variable, and as a file.

import type { RunConfig } from '#contracts/run-config.ts';
import type { Static } from '#std/schema.ts';
import type { Reference } from '../kind.ts';
import type { Env } from '../pods/pod.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';
import type { SessionStorage } from './session.ts';

type Storage = Static<typeof SessionStorage> | undefined;

/** Returns an optional reference to the Secret, because Kubernetes delays pods until the Secret exists. */
export function sessionReferences(storage: Storage): readonly Reference[] {
  const password = storage?.passwordRef;
  if (password === undefined) return [];
  return [{ pointer: '/spec/sessionStorage/passwordRef', kind: 'Secret', ...password, optional: 'waited' }];
}

export function sessionPassword(storage: Storage, variable: string): readonly Env[] {
  if (storage?.provider !== 'redis' || storage.passwordRef === undefined) return [];
  return [{ name: variable, secret: storage.passwordRef }];
}

export function sessionPasswordFile(storage: Storage): readonly SecretFile[] {
  if (storage?.provider !== 'redis' || storage.passwordRef === undefined) return [];
  return [{ file: SECRET_FILES.sessionRedisPassword, secret: storage.passwordRef }];
}

type SessionRedis = NonNullable<RunConfig['scaling_config']>['session_redis'];

/** Returns undefined if replicas do not share sessions. */
export function sessionRedis(storage: Storage): SessionRedis {
  const { provider, address, db = 0, keyPrefix, passwordRef } = storage ?? {};
  if (provider !== 'redis' || address === undefined) return undefined;
  return {
    address,
    db,
    key_prefix: keyPrefix || undefined,
    password_file: passwordRef && secretPath(SECRET_FILES.sessionRedisPassword),
  };
}
