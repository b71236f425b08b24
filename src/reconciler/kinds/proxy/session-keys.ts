// The keys that seal session ids (design: no state that another replica lacks): a Secret that is made once, and the files
// that a proxy reads them from.

import type { GeneratedSecret } from '../kind.ts';
import { workloadLabels } from '../labels.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';

interface Proxy {
  readonly workload: 'mcpserver' | 'mcpremoteproxy';
  readonly name: string;
  readonly namespace: string;
  readonly names: { readonly sessionKeys: string };
}

/** Keys of the Secret, the one that seals first; the other opens what was sealed before someone exchanged them. */
const KEYS = [
  { key: 'current', file: SECRET_FILES.sessionKey },
  { key: 'previous', file: SECRET_FILES.previousSessionKey },
] as const;
const KEY_BYTES = 32;

/** Whoever has them can make session ids of anyone, so no one gets to choose them. */
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
