// `enforceServers` of MCPRegistry: images of a namespace must be in an enforcing registry (document 2, Errors 1).
// Knows nothing about where the images of a registry come from.

import type { Kind, Resource, View } from '../../kinds/kind.ts';
import type { Finding } from '../../kube/finding.ts';
import { isObject } from '../../std/json.ts';

/** Images of each enforcing registry by `namespace/name`; one that could not be read, or was never synced, is absent: unknown. */
export type EnforcedImages = ReadonlyMap<string, ReadonlySet<string>>;

/** A registry that lives in a namespace, or is declared there. */
export interface Registry {
  readonly name: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly enforces: boolean;
}

/** Set on a server by its author: chooses the registry that its image must be in. */
const REGISTRY_LABEL = 'toolhive.stacklok.io/registry-name';

/** `registries`: those of the resource's namespace. */
export function imageFindings(
  kind: Kind,
  resource: Resource,
  registries: readonly Registry[],
  enforced: EnforcedImages,
): Finding[] {
  const images = kind.images(resource);
  if (images.length === 0) return [];
  const chosen = resource.metadata.labels?.[REGISTRY_LABEL];
  if (chosen !== undefined && !registries.some((registry) => registry.name === chosen)) {
    return [
      imageFinding(`label ${REGISTRY_LABEL} names MCPRegistry "${chosen}", which does not exist in this namespace`),
    ];
  }
  const enforcing = registries.filter(
    (registry) => registry.enforces && (chosen === undefined || registry.name === chosen),
  );
  if (enforcing.length === 0) return [];
  const known = enforcing.map((registry) => enforced.get(registry.key));
  const names = enforcing.map((registry) => registry.name).join(', ');
  return images.flatMap((image) => {
    if (known.some((set) => set?.has(image) === true)) return [];
    if (known.some((set) => set === undefined)) {
      return [
        {
          ...imageFinding(
            `it is unknown whether image ${image} is in ${names}: the catalogue could not be read, or was never synced`,
          ),
          code: 'image-unknown',
        },
      ];
    }
    return [imageFinding(`image ${image} is in no enforcing registry of this namespace (${names})`)];
  });
}

/** The view's objects of those kinds that have registry sources. Looks at every object of ours in the namespace. */
export function registriesOf(view: View, kinds: readonly Kind[]): Registry[] {
  return kinds.flatMap((kind) =>
    view.all(kind.kind).flatMap((object) => {
      const resource: Resource = { ...object, spec: isObject(object.spec) ? object.spec : {} };
      if (kind.sources(resource).length === 0) return [];
      const { name, namespace } = object.metadata;
      return [{ name, key: `${namespace ?? ''}/${name}`, enforces: kind.enforces(resource) }];
    }),
  );
}

function imageFinding(message: string): Finding {
  return { code: 'image-not-enforced', severity: 'error', pointer: '/spec/image', message };
}
