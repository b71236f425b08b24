// Objects as scenarios need them, short to write.

import type { Json, JsonObject } from '#std/json.ts';

export const CONFIG_MAPS = '/api/v1/namespaces/${ns}/configmaps';
export const SECRETS = '/api/v1/namespaces/${ns}/secrets';
export const SERVICES = '/api/v1/namespaces/${ns}/services';
export const SERVICE_ACCOUNTS = '/api/v1/namespaces/${ns}/serviceaccounts';
export const EVENTS = '/api/v1/namespaces/${ns}/events';
export const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles';
export const ROLE_BINDINGS = '/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/${ns}/deployments';
export const STATEFUL_SETS = '/apis/apps/v1/namespaces/${ns}/statefulsets';
export const NETWORK_POLICIES = '/apis/networking.k8s.io/v1/namespaces/${ns}/networkpolicies';
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/${ns}/leases';
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export function configMap(name: string, data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function service(name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, ...metadata }, spec };
}

/** A Deployment with no replicas: its controller has the least to do. */
export function deployment(
  name: string,
  containers: Json[],
  spec: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
      ...spec,
    },
  };
}

export function role(name: string, rules: Json[], metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, ...metadata }, rules };
}

export interface CrdOptions {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema: JsonObject;
  /** More fields of the one version. */
  readonly version?: JsonObject;
  readonly spec?: JsonObject;
  readonly scope?: 'Namespaced' | 'Cluster';
}

export function crd(options: CrdOptions): JsonObject {
  const { group, kind, plural, schema, version, spec, scope } = options;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: scope ?? 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
      ...spec,
    },
  };
}
