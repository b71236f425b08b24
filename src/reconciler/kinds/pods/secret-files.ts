// Mounts Secrets as files, which change with their Secrets while the pod runs.

import { SECRETS_DIRECTORY } from '#contracts/run-config.ts';
import type { JsonObject } from '#std/json.ts';
import type { Mounted } from './pod.ts';
import type { SecretKey } from './secret-checksum.ts';

/** A key of a Secret, and the name of its file. */
export interface SecretFile {
  readonly file: string;
  readonly secret: SecretKey;
}

/** Names of the files that proxies read. */
export const SECRET_FILES = {
  sessionKey: 'session-key',
  previousSessionKey: 'session-key-previous',
  oidcClientSecret: 'oidc-client-secret',
  sessionRedisPassword: 'session-redis-password',
  tokenExchangeClientSecret: 'token-exchange-client-secret',
  idpClientSecret: 'idp-client-secret',
  targetClientSecret: 'target-client-secret',
  headerValue: 'header-value',
  bearerToken: 'bearer-token',
  forwardedHeader: (name: string) => `forwarded-header-${name}`,
  collectorHeader: (index: number) => `collector-header-${index}`,
  webhook: (place: string, part: 'hmac' | 'ca' | 'cert' | 'key') => `webhook-${place}-${part}`,
} as const;

/** Returns the path in the container. */
export function secretPath(file: string): string {
  return `${SECRETS_DIRECTORY}/${file}`;
}

const VOLUME = 'skep-secrets';
const OWNER_READS = 0o400;

/** Mounts all files in one volume without subPath: a file with subPath would never change while the pod runs. */
export function mountedSecrets(files: readonly SecretFile[]): readonly Mounted[] {
  if (files.length === 0) return [];
  const sources = files.map(({ file, secret: { name, key } }): JsonObject => {
    return { secret: { name, items: [{ key, path: file }] } };
  });
  return [
    {
      volume: { name: VOLUME, projected: { defaultMode: OWNER_READS, sources } },
      mount: { name: VOLUME, mountPath: SECRETS_DIRECTORY, readOnly: true },
    },
  ];
}
