// Finds the chain of controllers of an object: its own controller, the controller of that object, and further up.

import { groupOf, type KubeObject, type OwnerReference } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * Returns the chain of controllers, nearest first. The chain ends at a reference to an object that does not exist or
 * has another uid.
 */
export function ownersOf(context: ApiContext, object: Pick<KubeObject, 'metadata'>): readonly Owner[] {
  const owners: Owner[] = [];
  for (let next = controllerOf(context, object); next !== undefined; next = controllerOf(context, next)) {
    const owner = asOwner(next);
    if (owners.some(({ uid }) => uid === owner.uid)) break;
    owners.push(owner);
  }
  return owners;
}

export function asOwner({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject): Owner {
  return { apiVersion, kind, name, uid };
}

function controllerOf(context: ApiContext, { metadata }: Pick<KubeObject, 'metadata'>): KubeObject | undefined {
  const reference = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const found = reference === undefined ? undefined : findReferenced(context, reference, metadata.namespace ?? '');
  return found?.metadata.uid === reference?.uid ? found : undefined;
}

function findReferenced(
  { store, types }: ApiContext,
  owner: OwnerReference,
  namespace: string,
): KubeObject | undefined {
  const group = groupOf(owner.apiVersion);
  const type = types.all().find((each) => each.kind === owner.kind && each.group === group);
  if (type === undefined) return undefined;
  return store.get({ collection: type.collection, namespace: type.namespaced ? namespace : '', name: owner.name });
}
