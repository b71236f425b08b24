// Returns the custom resources among the objects, with defaults. Drops resources that do not fit the schema of their
// kind.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import { compiledKind } from '../read/kind-table.ts';

export interface ReadableResource {
  readonly kind: Kind;
  readonly resource: Resource;
}

/** Drops resources that do not fit their schema: another operator or an older release may have written them. */
export function readableResources(
  kinds: readonly Kind[],
  apiGroup: string,
  objects: readonly KubeObject[],
): readonly ReadableResource[] {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  return objects.flatMap((object): ReadableResource[] => {
    const kind = groupOf(object.apiVersion) === apiGroup ? byName.get(object.kind) : undefined;
    if (kind === undefined) return [];
    const resource = readOnce(kind, object);
    return resource === undefined ? [] : [{ kind, resource }];
  });
}

/** Cache by object. In a long-lived process, all runs get the identical object until the object changes. */
const read = new WeakMap<KubeObject, { readonly kind: Kind; readonly resource: Resource | undefined }>();

function readOnce(kind: Kind, object: KubeObject): Resource | undefined {
  const known = read.get(object);
  if (known?.kind === kind) return known.resource;
  const resource = readResource(kind, object);
  read.set(object, { kind, resource });
  return resource;
}

function readResource(kind: Kind, object: KubeObject): Resource | undefined {
  const { structural } = compiledKind(kind);
  const { status: _status, ...rest } = structural.withDefaults(object);
  const { spec } = rest;
  if (!isObject(spec) || structural.validate(rest).length > 0) return undefined;
  const { apiVersion, metadata } = object;
  return { ...rest, apiVersion, kind: object.kind, metadata, spec };
}
