// Decides what a source of a registry means if an object that it names, and may do without, is missing.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { configMapBytes, secretBytes } from '#kubernetes/rules/content.ts';
import type { View } from '../../kinds/kind.ts';

interface Found {
  readonly view: View;
  /** False if the view may lack the object although it exists: it could not be read. */
  readonly knows: (kind: string, name: string) => boolean;
}

/**
 * Decides about the references of a source that may be missing: an optional ConfigMap that is missing stays optional, and the
 * source is read as empty; without an optional Secret, a repository is read without credentials. So the source is due as soon
 * as the object appears or disappears. An object that could not be read is a failure of the source.
 */
export function withoutMissing({ view, knows }: Found, source: RegistrySource): RegistrySource {
  const { origin } = source;
  if (origin.type === 'configMap' && origin.optional === true) {
    const { type, name, key } = origin;
    const isMissing = configMapBytes(view.find('ConfigMap', name), key) === undefined && knows('ConfigMap', name);
    return isMissing ? source : { ...source, origin: { type, name, key } };
  }
  if (origin.type === 'git' && origin.auth?.passwordSecretRef.optional === true) {
    const { auth, ...rest } = origin;
    const { name, key } = auth.passwordSecretRef;
    const isMissing = secretBytes(view.find('Secret', name), key) === undefined && knows('Secret', name);
    return { ...source, origin: isMissing ? rest : { ...rest, auth: { ...auth, passwordSecretRef: { name, key } } } };
  }
  return source;
}
