// Lists special rules of built-in kinds. Kinds without an entry have only the common rules.

import { isObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { DEFINITION } from './definition.ts';
import { withOwnSelector } from './job.ts';
import type { KindRules } from './kind.ts';
import { SERVICE } from './service.ts';
import {
  validateClaim,
  validateConfigMap,
  validateEvent,
  validateLease,
  validateNetworkPolicy,
  validateRole,
  validateRoleBinding,
  validateSecret,
} from './validate/others.ts';
import {
  validateCronJob,
  validateDaemonSet,
  validateDeployment,
  validateJob,
  validatePod,
  validateReplicaSet,
  validateStatefulSet,
} from './validate/workloads.ts';

type OwnRules = Partial<KindRules>;

const COUNTS_SPEC: OwnRules = {
  generationCounts: (next, old) => !jsonEquals(next.spec, old.spec),
};

/** Changed annotations increment the generation too, because a Deployment copies them to its ReplicaSets. */
const DEPLOYMENT: OwnRules = {
  generationCounts: (next, old) =>
    !jsonEquals(next.spec, old.spec) || !jsonEquals(next.metadata.annotations, old.metadata.annotations),
  validate: validateDeployment,
};

const NAMESPACE: OwnRules = {
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

const RBAC: OwnRules = { nameForm: 'segment', createsOnUpdate: true };

/** Replaces an empty list of rules by null, because storage does not distinguish an empty list from an absent list. */
function withStoredRules(object: KubeObject): KubeObject {
  return Array.isArray(object.rules) && object.rules.length === 0 ? { ...object, rules: null } : object;
}

/** Removes the fields of coordinated leader election, a feature that is disabled by default. */
function withoutElection(object: KubeObject): KubeObject {
  if (!isObject(object.spec)) return object;
  const { strategy: _strategy, preferredHolder: _holder, ...spec } = object.spec;
  return { ...object, spec };
}

const ROLE: OwnRules = {
  ...RBAC,
  validate: validateRole,
  prepareCreate: withStoredRules,
  prepareUpdate: withStoredRules,
};

export const KIND_RULES: Readonly<Record<string, OwnRules>> = {
  '/Namespace': NAMESPACE,
  '/ConfigMap': { validate: validateConfigMap },
  '/Secret': { validate: validateSecret },
  '/Service': SERVICE,
  '/ServiceAccount': { returnsDeleted: true },
  '/PersistentVolumeClaim': {
    returnsDeleted: true,
    validate: validateClaim,
    prepareCreate: (object) => ({ ...object, status: { phase: 'Pending' } }),
  },
  '/Pod': { ...COUNTS_SPEC, returnsDeleted: true, validate: validatePod },
  '/ResourceQuota': { returnsDeleted: true },
  '/LimitRange': { createsOnUpdate: true },
  '/Event': { createsOnUpdate: true, validate: validateEvent },
  'events.k8s.io/Event': { createsOnUpdate: true },
  'apps/Deployment': DEPLOYMENT,
  'apps/StatefulSet': { ...COUNTS_SPEC, validate: validateStatefulSet },
  'apps/ReplicaSet': { ...COUNTS_SPEC, validate: validateReplicaSet },
  'apps/DaemonSet': { ...COUNTS_SPEC, validate: validateDaemonSet },
  'batch/Job': { ...COUNTS_SPEC, validate: validateJob, prepareCreate: withOwnSelector },
  'batch/CronJob': { ...COUNTS_SPEC, validate: validateCronJob },
  'networking.k8s.io/NetworkPolicy': { ...COUNTS_SPEC, validate: validateNetworkPolicy },
  'networking.k8s.io/Ingress': COUNTS_SPEC,
  'policy/PodDisruptionBudget': { ...COUNTS_SPEC, updatesUnconditionally: false },
  'coordination.k8s.io/Lease': {
    createsOnUpdate: true,
    updatesUnconditionally: false,
    validate: validateLease,
    prepareCreate: withoutElection,
    prepareUpdate: withoutElection,
  },
  'rbac.authorization.k8s.io/Role': ROLE,
  'rbac.authorization.k8s.io/RoleBinding': { ...RBAC, validate: validateRoleBinding },
  'rbac.authorization.k8s.io/ClusterRole': ROLE,
  'rbac.authorization.k8s.io/ClusterRoleBinding': { ...RBAC, validate: validateRoleBinding },
  'apiextensions.k8s.io/CustomResourceDefinition': { ...COUNTS_SPEC, ...DEFINITION },
};
