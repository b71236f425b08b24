// Lists unpublished defaults that the API server sets in built-in types inside atomic values. If a line is missing, a
// dry run is needed, but no result is wrong.

import type { Json, JsonObject } from '#std/json.ts';

type Fill = Json | ((object: JsonObject) => Json);

const CORE = 'io.k8s.api.core.v1';
const ADMISSION = 'io.k8s.api.admissionregistration.v1';
const RBAC = 'io.k8s.api.rbac.v1';
const RBAC_GROUP = 'rbac.authorization.k8s.io';

const FILLS: Readonly<Record<string, Readonly<Record<string, Fill>>>> = {
  [`${CORE}.ObjectFieldSelector`]: { apiVersion: 'v1' },
  [`${CORE}.ResourceFieldSelector`]: { divisor: '0' },
  [`${CORE}.ServiceAccountTokenProjection`]: { expirationSeconds: 3600 },
  [`${CORE}.PersistentVolumeClaim`]: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    status: () => ({ phase: 'Pending' }),
  },
  [`${CORE}.PersistentVolumeClaimSpec`]: { volumeMode: 'Filesystem' },
  'io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern': { status: 'True' },
  'io.k8s.api.networking.v1.NetworkPolicyPort': { protocol: 'TCP' },
  [`${RBAC}.RoleRef`]: { apiGroup: RBAC_GROUP },
  [`${RBAC}.Subject`]: { apiGroup: ({ kind }) => (kind === 'ServiceAccount' ? '' : RBAC_GROUP) },
  [`${ADMISSION}.NamedRuleWithOperations`]: { scope: '*' },
  [`${ADMISSION}.MatchResources`]: {
    matchPolicy: 'Equivalent',
    namespaceSelector: () => ({}),
    objectSelector: () => ({}),
  },
};

/** Fields that the server overwrites: claim templates of a StatefulSet always have this apiVersion and kind. */
const FORCED: Readonly<Record<string, readonly string[]>> = {
  [`${CORE}.PersistentVolumeClaim`]: ['apiVersion', 'kind'],
};

export function isForced(type: string | undefined, field: string): boolean {
  return type !== undefined && FORCED[type]?.includes(field) === true;
}

/**
 * Returns the value that the server sets for an absent field of a built-in type. Published defaults are not included.
 */
export function nativeDefault(type: string | undefined, field: string, object: JsonObject): Json | undefined {
  const fill = type === undefined ? undefined : FILLS[type]?.[field];
  return typeof fill === 'function' ? fill(object) : fill;
}
