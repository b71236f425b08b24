// Builds API paths of collections and objects (Kubernetes API Concepts, "Resource URIs").

import type { ApiResource } from '#reconciler/run/ports.ts';

/**
 * Returns the path of a collection: of one namespace if `namespace` is set and the kind is namespaced, otherwise of the
 * whole cluster.
 */
export function collectionPath({ apiVersion, plural, namespaced }: ApiResource, namespace?: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const inside = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${inside}/${plural}`;
}

/** Names are case-sensitive and may contain `:` (RBAC). */
export function objectPath(resource: ApiResource, namespace: string | undefined, name: string): string {
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
}
