// Decides which optional references of a registry source stay optional.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { configMapBytes, secretBytes } from '#kubernetes/rules/content.ts';
import type { FleetRegistry } from '#registry/catalogue/fleet.ts';
import type { View } from '../../kinds/kind.ts';

interface Around {
  readonly view: View;
  /** Returns false if the view may lack the object although it exists. */
  readonly knows: (kind: string, name: string) => boolean;
}

/**
 * Decides about the references of a source that may be missing: an optional ConfigMap that is missing stays optional, and the
 * source is read as empty; without an optional Secret, a repository is read without credentials. So the source is due as soon
 * as the object appears or disappears. An object that could not be read is a failure of the source.
 */
export function asFound({ view, knows }: Around, source: RegistrySource): RegistrySource {
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

/** Returns true if the source is a claim. The service that mounts the claim reads it. */
export function isMounted({ origin }: RegistrySource): boolean {
  return origin.type === 'claim';
}

/** Returns true if the source's content is the running servers, which are known only at the end of a run. */
export function isOfFleet(source: RegistrySource): source is FleetRegistry['source'] {
  return source.origin.type === 'fleet';
}
