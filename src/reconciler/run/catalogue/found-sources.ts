// Resolves the optional reference of a registry source to a ConfigMap or Secret, by whether the object exists.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { configMapBytes, secretBytes } from '#kubernetes/rules/content.ts';
import type { FleetRegistry } from '#registry/catalogue/fleet.ts';
import type { View } from '../../kinds/kind.ts';

interface Around {
  readonly view: View;
  /** Returns false if the object may exist although the view lacks it. */
  readonly knows: (kind: string, name: string) => boolean;
}

/**
 * Resolves the optional reference of a source. If a ConfigMap is missing, the source is unchanged, and is read as
 * empty. If a Secret is missing, the source loses the reference, and the repository is read without credentials. If the
 * object exists or could not be read, the reference becomes required: a failed read is then a failure of the source.
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

/** Returns true if the source is a PersistentVolumeClaim. The service that mounts the claim reads the source. */
export function isMounted({ origin }: RegistrySource): boolean {
  return origin.type === 'claim';
}

/** Returns true if the entries of the source are the running servers. They are known only at the end of a run. */
export function isOfFleet(source: RegistrySource): source is FleetRegistry['source'] {
  return source.origin.type === 'fleet';
}
