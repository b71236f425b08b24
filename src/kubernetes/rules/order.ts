// In which order built-in kinds are applied.

import { groupOf } from './object.ts';

const CORE = '';
const RBAC = 'rbac.authorization.k8s.io';

/** Steps of `group/kind`: what a later step names exists when it is applied. */
const STEPS: readonly (readonly string[])[] = [
  ['apiextensions.k8s.io/CustomResourceDefinition'],
  // What objects of any namespace name: classes, priorities, volumes, devices.
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
  // Limits hold for what comes after them only.
  [`${CORE}/ResourceQuota`, `${CORE}/LimitRange`],
  [`${CORE}/ServiceAccount`, `${RBAC}/Role`, `${RBAC}/ClusterRole`],
  // Binding a role is allowed only to those who may read it, so it must be there.
  [`${RBAC}/RoleBinding`, `${RBAC}/ClusterRoleBinding`],
  [
    ...['ConfigMap', 'Secret', 'PersistentVolume', 'PersistentVolumeClaim', 'PodTemplate'].map(
      (kind) => `${CORE}/${kind}`,
    ),
    ...['ResourceClaim', 'ResourceClaimTemplate'].map((kind) => `resource.k8s.io/${kind}`),
  ],
  // No pod runs before the policies that guard it.
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
 * The step of a kind, lower first; deletions run in reverse. Every kind that is not listed, our own among them, gets the
 * highest number.
 */
export function applyOrder(apiVersion: string, kind: string): number {
  return POSITIONS.get(`${groupOf(apiVersion)}/${kind}`) ?? STEPS.length;
}
