// Defines the order in which built-in kinds are applied.

import { groupOf } from './object.ts';

const CORE = '';
const RBAC = 'rbac.authorization.k8s.io';

/** Steps of `group/kind`. An object may refer to objects of earlier steps. */
const STEPS: readonly (readonly string[])[] = [
  ['apiextensions.k8s.io/CustomResourceDefinition'],
  // Cluster-wide objects to which namespaced objects refer: classes, priorities, volumes, devices.
  [
    ...['StorageClass', 'VolumeAttributesClass', 'CSIDriver'].map((kind) => `storage.k8s.io/${kind}`),
    'scheduling.k8s.io/PriorityClass',
    'node.k8s.io/RuntimeClass',
    'networking.k8s.io/IngressClass',
    'resource.k8s.io/DeviceClass',
    'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
    `${CORE}/Node`,
  ],
  [`${CORE}/Namespace`],
  // Limits apply only to objects that are created after the limits.
  [`${CORE}/ResourceQuota`, `${CORE}/LimitRange`],
  [`${CORE}/ServiceAccount`, `${RBAC}/Role`, `${RBAC}/ClusterRole`],
  // The server reads the role to check who may bind it, so the role must exist.
  [`${RBAC}/RoleBinding`, `${RBAC}/ClusterRoleBinding`],
  [
    ...['ConfigMap', 'Secret', 'PersistentVolume', 'PersistentVolumeClaim', 'PodTemplate'].map(
      (kind) => `${CORE}/${kind}`,
    ),
    ...['ResourceClaim', 'ResourceClaimTemplate'].map((kind) => `resource.k8s.io/${kind}`),
  ],
  // The policies that protect pods must exist before the pods.
  [
    `${CORE}/Service`,
    'networking.k8s.io/NetworkPolicy',
    'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
    'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  ],
  [
    ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].map((kind) => `apps/${kind}`),
    'batch/Job',
    'batch/CronJob',
    `${CORE}/Pod`,
    `${CORE}/ReplicationController`,
  ],
  ['policy/PodDisruptionBudget', 'autoscaling/HorizontalPodAutoscaler', 'networking.k8s.io/Ingress'],
];

const POSITIONS: ReadonlyMap<string, number> = new Map(
  STEPS.flatMap((step, position) => step.map((kind): [string, number] => [kind, position])),
);

/**
 * Returns the step of a kind. Lower steps are applied first and deleted last. Unlisted kinds, including ours, are in
 * the last step.
 */
export function applyOrder(apiVersion: string, kind: string): number {
  return POSITIONS.get(`${groupOf(apiVersion)}/${kind}`) ?? STEPS.length;
}
