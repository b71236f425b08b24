// Secrets and ConfigMaps, whose contents may be large and are mostly not ours: of all of them the metadata is listed, and
// the contents of what carries our label; those of others are read where something needs them. Knows nothing about who
// does.

import { idOf, type KubeObject, keyOf } from '../../kube/object.ts';
import type { ResourceId } from '../../std/problem.ts';
import { PART_OF } from '../labels.ts';
import type { ApiResource, Cluster } from '../ports.ts';

/** What `openSnapshot` has read of a kind. */
export interface Listed {
  readonly objects: readonly KubeObject[];
  /** Keys of those of which only the metadata is known. */
  readonly partial: ReadonlySet<string>;
}

export function isLarge({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return apiVersion === 'v1' && (kind === 'ConfigMap' || kind === 'Secret');
}

export async function listLarge(
  cluster: Pick<Cluster, 'list'>,
  resource: ApiResource,
  namespace: string | undefined,
  applySet: string,
): Promise<Listed> {
  const [all, own] = await Promise.all([
    cluster.list(resource, namespace, { only: 'metadata' }),
    cluster.list(resource, namespace, { selector: `${PART_OF}=${applySet}`, large: true }),
  ]);
  const complete = new Set(own.map((object) => keyOf(idOf(object))));
  const others = all.filter((object) => !complete.has(keyOf(idOf(object))));
  return { objects: [...others, ...own], partial: new Set(others.map((object) => keyOf(idOf(object)))) };
}

/** More than these of one namespace are fewer requests in pages of everything that is there. */
const READ_SINGLY_MAX = 50;

/** Those that are still there. Throws Failure where one cannot be read. */
export async function readContents(
  cluster: Pick<Cluster, 'list' | 'get'>,
  resource: ApiResource,
  ids: readonly ResourceId[],
): Promise<readonly KubeObject[]> {
  const byNamespace = Map.groupBy(ids, ({ namespace }) => namespace);
  const found = await Promise.all(
    [...byNamespace].map(async ([namespace, here]) => {
      if (here.length <= READ_SINGLY_MAX) return Promise.all(here.map((id) => cluster.get(id)));
      const names = new Set(here.map(({ name }) => name));
      return cluster.list(resource, namespace, { large: true, keep: ({ metadata }) => names.has(metadata.name) });
    }),
  );
  return found.flat().filter((object) => object !== undefined);
}

/** What something needed of them before, as it was read then: where an object did not change since, it need not be read again. */
export interface EarlierContents {
  find(id: ResourceId): KubeObject | undefined;
  isPartial(id: ResourceId): boolean;
}

/** Of what was needed before: what is still the same, and what has to be read. */
export function neededAgain(
  { objects, partial }: Listed,
  before: EarlierContents,
): { readonly same: readonly KubeObject[]; readonly changed: readonly ResourceId[] } {
  const same: KubeObject[] = [];
  const changed: ResourceId[] = [];
  for (const object of objects) {
    const id = idOf(object);
    const known = partial.has(keyOf(id)) && !before.isPartial(id) ? before.find(id) : undefined;
    if (known === undefined) continue;
    const { uid, resourceVersion } = known.metadata;
    if (uid === object.metadata.uid && resourceVersion === object.metadata.resourceVersion) same.push(known);
    else changed.push(id);
  }
  return { same, changed };
}
