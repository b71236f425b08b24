// Implements the rules of namespaces: objects cannot be created in a missing or terminating namespace, and some
// namespaces cannot be deleted.

import { isObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { ApiContext } from './context.ts';
import { forbidden, notFound } from './status.ts';

const NAMESPACES = { group: '', plural: 'namespaces', kind: 'Namespace' };

export const NAMESPACE_COLLECTION = '/namespaces';

/** Namespaces that exist in every cluster and cannot be deleted. */
export const IMMORTAL_NAMESPACES = ['default', 'kube-system', 'kube-public'];

export function findNamespace(context: ApiContext, name: string): KubeObject | undefined {
  return context.store.get({ collection: NAMESPACE_COLLECTION, namespace: '', name });
}

/** Throws 404 if the namespace does not exist, and 403 if it is being deleted. */
export function checkNamespaceTakes(context: ApiContext, type: ResourceType, object: KubeObject): void {
  const { namespace, name } = object.metadata;
  if (!type.namespaced || namespace === undefined) return;
  const found = findNamespace(context, namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  throw forbidden(type, name ?? '', why, { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' });
}

/** True if the namespace has entries in `spec.finalizers`, which the controller removes when the namespace is empty. */
export function isHeldNamespace({ collection }: Pick<ResourceType, 'collection'>, { spec }: KubeObject): boolean {
  if (collection !== NAMESPACE_COLLECTION || !isObject(spec)) return false;
  return Array.isArray(spec.finalizers) && spec.finalizers.length > 0;
}
