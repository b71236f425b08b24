// Enforces `enforceServers` of MCPRegistry: if a registry of a namespace sets it, images must be in one of the
// registries of the namespace.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Kind, Resource, View } from '../../kinds/kind.ts';
import { byWholeName, type EntryProvenance } from '../images/policy.ts';

/**
 * Images of the registries of enforcing namespaces, by `namespace/name`. A registry that could not be read, or was
 * never synced, is absent: its images are unknown.
 */
export type EnforcedImages = ReadonlyMap<string, ReadonlySet<string>>;

/** A registry that exists in a namespace, or is declared there. */
export interface Registry {
  readonly name: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly enforces: boolean;
}

/**
 * `registries` are all registries of the resource's namespace. If one of them enforces, each image must be in one of
 * them: an image "in no registry of that namespace" is rejected.
 */
export function imageFindings(
  kind: Kind,
  resource: Resource,
  registries: readonly Registry[],
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

/** Returns the view's objects of the kinds that have registry sources. Reads every object of ours in the namespace. */
export function registriesIn(view: View, kinds: readonly Kind[]): Registry[] {
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
 * Images of each registry with their provenance, by `namespace/name`. A registry that could not be read, or was never
 * synced, is absent.
 */
export type RegistryProvenance = ReadonlyMap<string, readonly (readonly [image: string, provenance: JsonObject])[]>;

/** Returns undefined if one of the registries is unknown: it may have an entry for any image. */
export function provenanceIn(
  registries: readonly Registry[],
  provenance: RegistryProvenance,
): EntryProvenance | undefined {
  const known = registries.map(({ key }) => provenance.get(key));
  return known.includes(undefined) ? undefined : byWholeName(known.flatMap((each) => each ?? []));
}
