// Returns the list of a resource's child objects from their names by kind.

import type { ObjectName } from './kind.ts';

const VERSIONS = {
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  Role: 'rbac.authorization.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
} as const;

type Made = keyof typeof VERSIONS;

/** Kinds in a fixed order, so that messages always list objects in the same order. */
const KINDS = Object.keys(VERSIONS) as readonly Made[];

export function made(names: { readonly [Kind in Made]?: readonly string[] }): readonly ObjectName[] {
  const found: ObjectName[] = [];
  for (const kind of KINDS) {
    for (const name of names[kind] ?? []) found.push({ apiVersion: VERSIONS[kind], kind, name });
  }
  return found;
}
