// Finds the objects that refer to an object, in the live state and in the state after the run.

import { groupOf, idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import type { Standing } from '../resolve/resolve.ts';

type Lookup = (target: ResourceId) => readonly ResourceId[];

/** Referring objects by their target. Optional references are ignored. */
export interface Referrers {
  /** References of the live objects. */
  readonly living: Lookup;
  /**
   * References of applied resources as Git declares them, and of all other live resources. The other live resources
   * include resources that the run deletes.
   */
  readonly desired: Lookup;
}

export interface ReferrersInput {
  readonly standings: readonly Standing[];
  readonly live: readonly KubeObject[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
}

export function referrersOf({ standings, live, kinds, apiGroup }: ReferrersInput): Referrers {
  const living = new Map<string, ResourceId[]>();
  const desired = new Map<string, ResourceId[]>();
  const applied = new Set<string>();
  for (const { loaded, health } of standings) {
    if (health === 'held' || loaded.kind === undefined || loaded.defaulted === undefined) continue;
    applied.add(referenceName(loaded.id));
    noteReferrers(desired, loaded.id, loaded.kind, loaded.defaulted);
  }
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  for (const object of live) {
    const kind = groupOf(object.apiVersion) === apiGroup ? byName.get(object.kind) : undefined;
    if (kind === undefined || !isResource(object)) continue;
    const id = idOf(object);
    noteReferrers(living, id, kind, object);
    if (!applied.has(referenceName(id))) noteReferrers(desired, id, kind, object);
  }
  return { living: lookup(living, apiGroup), desired: lookup(desired, apiGroup) };
}

function noteReferrers(referrers: Map<string, ResourceId[]>, id: ResourceId, kind: Kind, resource: Resource): void {
  const namespace = id.namespace === undefined ? {} : { namespace: id.namespace };
  for (const { kind: target, name, optional } of kind.references(resource)) {
    if (optional !== undefined) continue;
    const key = referenceName({ kind: target, name, ...namespace });
    const known = referrers.get(key);
    if (known === undefined) referrers.set(key, [id]);
    else known.push(id);
  }
}

/** Returns a lookup. A reference has no API group: its kind is one of ours or a core kind. */
function lookup(referrers: ReadonlyMap<string, readonly ResourceId[]>, apiGroup: string): Lookup {
  return (target) => {
    const group = groupOf(target.apiVersion);
    return group === '' || group === apiGroup ? (referrers.get(referenceName(target)) ?? []) : [];
  };
}

function referenceName({ namespace, kind, name }: Omit<ResourceId, 'apiVersion'>): string {
  return `${namespace ?? ''}/${kind}/${name}`;
}

function isResource(object: KubeObject): object is Resource {
  return isObject(object.spec);
}
