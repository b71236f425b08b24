// Names of objects, by kind: how a kind tells what its resources become. Knows nothing about the objects.

import type { ObjectName } from '../kind.ts';

const VERSIONS = {
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  Role: 'rbac.authorization.k8s.io/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
} as const;

export function made(names: { readonly [Kind in keyof typeof VERSIONS]?: readonly string[] }): readonly ObjectName[] {
  return Object.entries(VERSIONS).flatMap(([kind, apiVersion]) =>
    (names[kind as keyof typeof VERSIONS] ?? []).map((name) => ({ apiVersion, kind, name })),
  );
}
