// The table of the built-in kinds' own rules; a kind without an entry has only the common ones.

import type { KubeObject } from '../../kube/object.ts';
import { jsonEquals } from '../../std/json.ts';
import { DEFINITION } from './definition.ts';
import type { KindRules } from './rules.ts';

const COUNTS_SPEC: Partial<KindRules> = {
  generationCounts: (next: KubeObject, old: KubeObject) => !jsonEquals(next.spec, old.spec),
};

const NAMESPACE: Partial<KindRules> = {
  nameForm: 'label',
  returnsDeleted: true,
  withDefaults: (object) => {
    const { name, labels } = object.metadata;
    if (name === undefined) return object;
    return { ...object, metadata: { ...object.metadata, labels: { ...labels, 'kubernetes.io/metadata.name': name } } };
  },
  prepareCreate: (object) => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }) as KubeObject,
};

/** By `group/Kind`. */
export const KIND_RULES: Readonly<Record<string, Partial<KindRules>>> = {
  '/Namespace': NAMESPACE,
  '/Service': { nameForm: 'rfc1035', createsOnUpdate: true, returnsDeleted: true },
  '/ServiceAccount': { returnsDeleted: true },
  '/PersistentVolumeClaim': { returnsDeleted: true },
  '/Pod': { returnsDeleted: true, ...COUNTS_SPEC },
  '/ResourceQuota': { returnsDeleted: true },
  '/LimitRange': { createsOnUpdate: true },
  '/Event': { createsOnUpdate: true },
  'events.k8s.io/Event': { createsOnUpdate: true },
  'apps/Deployment': COUNTS_SPEC,
  'apps/StatefulSet': COUNTS_SPEC,
  'apps/ReplicaSet': COUNTS_SPEC,
  'apps/DaemonSet': COUNTS_SPEC,
  'batch/Job': COUNTS_SPEC,
  'batch/CronJob': COUNTS_SPEC,
  'networking.k8s.io/NetworkPolicy': COUNTS_SPEC,
  'networking.k8s.io/Ingress': COUNTS_SPEC,
  'policy/PodDisruptionBudget': { ...COUNTS_SPEC, updatesUnconditionally: false },
  'coordination.k8s.io/Lease': { createsOnUpdate: true, updatesUnconditionally: false },
  'rbac.authorization.k8s.io/Role': { nameForm: 'segment', createsOnUpdate: true },
  'rbac.authorization.k8s.io/RoleBinding': { nameForm: 'segment', createsOnUpdate: true },
  'rbac.authorization.k8s.io/ClusterRole': { nameForm: 'segment', createsOnUpdate: true },
  'rbac.authorization.k8s.io/ClusterRoleBinding': { nameForm: 'segment', createsOnUpdate: true },
  'apiextensions.k8s.io/CustomResourceDefinition': { ...COUNTS_SPEC, ...DEFINITION },
};
