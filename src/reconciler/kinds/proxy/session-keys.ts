// Defines the generated Secret with the keys that seal session ids, and the files from which a proxy reads the Secret.
// With these keys, each replica can read the session ids of other replicas.

import type { GeneratedSecret } from '../kind.ts';
import { workloadLabels } from '../labels.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';

interface Proxy {
  readonly workload: 'mcpserver' | 'mcpremoteproxy';
  readonly name: string;
  readonly namespace: string;
  readonly names: { readonly sessionKeys: string };
}

/**
 * Keys of the Secret. The proxy seals ids with the first key. The second key opens ids that were sealed before a key
 * rotation.
 */
const KEYS = [
  { key: 'current', file: SECRET_FILES.sessionKey },
  { key: 'previous', file: SECRET_FILES.previousSessionKey },
] as const;
const KEY_BYTES = 32;

/** Returns a Secret with random keys, because anyone with the keys can create session ids for any caller. */
export function sessionKeys({ workload, name, namespace, names }: Proxy): GeneratedSecret {
  const metadata = { name: names.sessionKeys, namespace, labels: workloadLabels(workload, name) };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' };
  return { object, random: Object.fromEntries(KEYS.map(({ key }) => [key, KEY_BYTES])) };
}

export function sessionKeyFiles({ names }: Proxy): readonly SecretFile[] {
  return KEYS.map(({ key, file }) => ({ file, secret: { name: names.sessionKeys, key } }));
}

export function sessionKeyPaths(): string[] {
  return KEYS.map(({ file }) => secretPath(file));
}
