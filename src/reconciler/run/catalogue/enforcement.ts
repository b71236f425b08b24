// Checks images against `enforceServers` of MCPRegistry. If a registry sets `enforceServers`, each image of the
// namespace must be in one of the namespace's registries.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Kind, Resource, View } from '../../kinds/kind.ts';
import { byWholeName, type EntryProvenance } from '../images/policy.ts';

/**
 * Images of each registry in enforcing namespaces, by `namespace/name` of the registry. The map lacks registries that
 * could not be read or were never synced.
 */
export type EnforcedImages = ReadonlyMap<string, ReadonlySet<string>>;

/** A registry that exists or is declared in a namespace. */
export interface NamespaceRegistry {
  readonly name: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly enforces: boolean;
}

/**
 * Returns an error for each image that no registry lists, if one of the registries sets `enforceServers`. `registries`
 * are all registries of the namespace.
 */
export function imageFindings(
  kind: Kind,
  resource: Resource,
  registries: readonly NamespaceRegistry[],
  enforced: EnforcedImages,
): Finding[] {
  if (!registries.some(({ enforces }) => enforces)) return [];
  const unknown = registries.filter(({ key }) => !enforced.has(key)).map(({ name }) => name);
  const names = registries.map(({ name }) => name).join(', ');
  return kind.images(resource).flatMap(({ image, pointer }): Finding[] => {
    if (registries.some(({ key }) => enforced.get(key)?.has(image) === true)) return [];
    if (unknown.length === 0) {
      const message = `image ${image} is in no registry of this namespace (${names}), and one of them enforces that it is`;
      return [{ code: 'image-not-enforced', severity: 'error', pointer, message }];
    }
    const message = `it is unknown whether image ${image} is in ${unknown.join(', ')}: the catalogue could not be read, or was never synced`;
    return [{ code: 'image-unknown', severity: 'error', pointer, message }];
  });
}

/** Returns the registries in the view. Reads every object of our kinds in the namespace. */
export function registriesIn(view: View, kinds: readonly Kind[]): NamespaceRegistry[] {
  return kinds.flatMap((kind) =>
    view.all(kind.kind).flatMap((object) => {
      const resource: Resource = { ...object, spec: isObject(object.spec) ? object.spec : {} };
      if (kind.sources(resource).length === 0) return [];
      const { name, namespace } = object.metadata;
      return [{ name, key: `${namespace ?? ''}/${name}`, enforces: kind.enforces(resource) }];
    }),
  );
}

/**
 * Provenance of the images of each registry, by `namespace/name` of the registry. The map lacks registries that could
 * not be read or were never synced.
 */
export type RegistryProvenance = ReadonlyMap<string, readonly (readonly [image: string, provenance: JsonObject])[]>;

/** Returns the provenance in all given registries. undefined if a registry is unknown: it may list any image. */
export function provenanceIn(
  registries: readonly NamespaceRegistry[],
  provenance: RegistryProvenance,
): EntryProvenance | undefined {
  const known = registries.map(({ key }) => provenance.get(key));
  return known.includes(undefined) ? undefined : byWholeName(known.flatMap((each) => each ?? []));
}
