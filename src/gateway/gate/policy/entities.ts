// Merges the entities of a policy file with the entities of a request. Attributes of the request override attributes of
// the file. Parents and tags of the file are kept.

import type { EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { typeAndId } from './scope.ts';
import type { CedarValue } from './values.ts';

export interface Entities {
  readonly list: readonly EntityJson[];
  readonly byKey: ReadonlyMap<string, EntityJson>;
}

export function indexEntities(list: readonly EntityJson[]): Entities {
  return { list, byKey: new Map(list.map((entity) => [entityKey(typeAndId(entity.uid)), entity])) };
}

function entityKey({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}\n${id}`;
}

/** Entity of a request. `attrs` are the attributes from the request. */
export interface RequestEntity {
  readonly uid: { readonly type: string; readonly id: string };
  readonly attrs: Readonly<Record<string, CedarValue>>;
  readonly parents?: readonly { readonly type: string; readonly id: string }[];
}

/** Returns the entities for the engine. Includes all entities of the file if `all` is true. */
export function mergeEntities(known: Entities, own: readonly RequestEntity[], all: boolean): EntityJson[] {
  const merged = own.map((entity) => merge(known.byKey.get(entityKey(entity.uid)), entity));
  if (!all || known.list.length === 0) return merged;
  const keys = new Set(own.map(({ uid }) => entityKey(uid)));
  return [...merged, ...known.list.filter(({ uid }) => !keys.has(entityKey(typeAndId(uid))))];
}

function merge(known: EntityJson | undefined, { uid, attrs, parents = [] }: RequestEntity): EntityJson {
  if (known === undefined) return { uid, attrs: { ...attrs }, parents: [...parents] };
  return { ...known, attrs: { ...known.attrs, ...attrs }, parents: [...known.parents, ...parents] };
}
