// Returns the custom resources among objects as their kinds read them: with defaults, and without resources that their
// kind cannot read.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { Kind, Resource } from '../../kinds/kind.ts';
import { compiledKind } from '../read/kind-table.ts';

export interface ReadableResource {
  readonly kind: Kind;
  readonly resource: Resource;
}

/** Skips unreadable objects: live objects may belong to another operator, or be older than our definitions. */
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

/** Cache: in a long-lived process, all runs get the same objects until the objects change. */
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
