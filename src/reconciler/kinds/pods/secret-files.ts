// Mounts Secrets as files. The files change with their Secrets while the pod runs.

import { SECRETS_DIRECTORY } from '#contracts/run-config.ts';
import type { JsonObject } from '#std/json.ts';
import type { Mounted } from './pod.ts';
import type { SecretKey } from './secret-checksum.ts';

/** Key of a Secret, and the name of the file with its value. */
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

/** Returns the path of the file in the container. */
export function secretPath(file: string): string {
  return `${SECRETS_DIRECTORY}/${file}`;
}

const VOLUME = 'skep-secrets';
const OWNER_READS = 0o400;

/** Mounts all files in one volume without subPath: Kubernetes never updates a file that is mounted with subPath. */
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
