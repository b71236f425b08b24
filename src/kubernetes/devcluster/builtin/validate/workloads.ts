// Checks Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs.

import { type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../../rules/object.ts';
import type { Cause } from '../../api/status.ts';
import { nameComplaints } from '../../api/validate-metadata.ts';
import { objectAt } from '../fields.ts';
import { FIELD_IS_IMMUTABLE, forbiddenField, invalidValue, nonNegative, oneOf, required } from './cause.ts';
import { validatePodSpec, validateTemplate } from './pod-spec.ts';
import { validateWorkloadSelector } from './selector.ts';

type WorkloadRule = (
  next: KubeObject,
  old: KubeObject | undefined,
  subresource: string | undefined,
) => readonly Cause[];

export const validateDeployment: WorkloadRule = (next, old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...validateWorkloadSelector(spec, 'spec', 'deployment'),
    ...validateTemplate(objectAt(spec, 'template'), 'spec.template'),
    ...oneOf('spec.strategy.type', objectAt(spec, 'strategy').type, ['Recreate', 'RollingUpdate']),
    ...validateRecreate(objectAt(spec, 'strategy')),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ...immutable(spec, old, 'selector'),
  ];
};

function validateRecreate(strategy: JsonObject): Cause[] {
  if (strategy.type !== 'Recreate' || strategy.rollingUpdate === undefined) return [];
  return [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")];
}

export const validateReplicaSet: WorkloadRule = (next, old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...validateWorkloadSelector(spec, 'spec', 'replicaset'),
    ...validateTemplate(objectAt(spec, 'template'), 'spec.template'),
    ...immutable(spec, old, 'selector'),
  ];
};

export const validateDaemonSet: WorkloadRule = (next, old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  return [
    ...validateWorkloadSelector(spec, 'spec', 'daemonset'),
    ...validateTemplate(objectAt(spec, 'template'), 'spec.template'),
    ...immutable(spec, old, 'selector'),
  ];
};

const STATEFUL_SET_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const validateStatefulSet: WorkloadRule = (next, old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  const { podManagementPolicy: policy, updateStrategy } = spec;
  const policyCauses =
    policy === 'OrderedReady' || policy === 'Parallel'
      ? []
      : [invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")];
  const strategy = objectAt(spec, 'updateStrategy').type;
  const strategyCauses =
    strategy === 'RollingUpdate' || strategy === 'OnDelete'
      ? []
      : [invalidValue('spec.updateStrategy', updateStrategy, "must be 'RollingUpdate' or 'OnDelete'")];
  const retention = objectAt(spec, 'persistentVolumeClaimRetentionPolicy');
  return [
    ...policyCauses,
    ...strategyCauses,
    ...['whenDeleted', 'whenScaled'].flatMap((key) =>
      oneOf(`spec.persistentVolumeClaimRetentionPolicy.${key}`, retention[key], ['Retain', 'Delete']),
    ),
    ...validateServiceName(spec.serviceName, old),
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateWorkloadSelector(spec, 'spec', 'statefulset'),
    ...validateTemplate(withClaimVolumes(spec), 'spec.template'),
    ...frozenExcept(spec, old),
  ];
};

/** Checks the name for new objects only, because the name cannot change later. */
function validateServiceName(name: Json | undefined, old: KubeObject | undefined): Cause[] {
  if (old !== undefined || name === undefined || name === '') return [];
  return nameComplaints(String(name), 'label').map((why) => invalidValue('spec.serviceName', name, why));
}

/** Adds the claim templates to the volumes, because containers can mount claims by their names. */
function withClaimVolumes(spec: JsonObject): JsonObject {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  const claims = Array.isArray(spec.volumeClaimTemplates) ? spec.volumeClaimTemplates : [];
  const declared = Array.isArray(podSpec.volumes) ? podSpec.volumes : [];
  const names = new Set(declared.map((volume) => (volume as JsonObject).name));
  const volumes = claims
    .map((claim) => ({ name: objectAt(claim as JsonObject, 'metadata').name ?? '', persistentVolumeClaim: {} }))
    .filter((volume) => !names.has(volume.name));
  return { ...template, spec: { ...podSpec, volumes: [...declared, ...volumes] } };
}

function frozenExcept(spec: JsonObject, old: KubeObject | undefined): Cause[] {
  if (old === undefined || jsonEquals(frozenPart(spec), frozenPart(specOf(old)))) return [];
  const [last, ...first] = [...STATEFUL_SET_MUTABLE].reverse().map((field) => `'${field}'`);
  const fields = `${first.reverse().join(', ')} and ${last}`;
  return [forbiddenField('spec', `updates to statefulset spec for fields other than ${fields} are forbidden`)];
}

function frozenPart(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !STATEFUL_SET_MUTABLE.includes(key)));
}

export const validateJob: WorkloadRule = (next, old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  return [...validateJobSpec(spec, 'spec'), ...immutable(spec, old, 'selector'), ...immutable(spec, old, 'template')];
};

function validateJobSpec(spec: JsonObject, field: string): Cause[] {
  const podSpec = objectAt(objectAt(spec, 'template'), 'spec');
  const policy = podSpec.restartPolicy;
  const path = `${field}.template.spec.restartPolicy`;
  const supported = ['OnFailure', 'Never'];
  const policyCauses =
    policy === 'Always' ? [required(path, `valid values: ${supported.map((v) => JSON.stringify(v)).join(', ')}`)] : [];
  return [
    ...['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds'].flatMap((key) =>
      nonNegative(`${field}.${key}`, spec[key]),
    ),
    ...validatePodSpec(podSpec, `${field}.template.spec`),
    ...policyCauses,
  ];
}

export const validateCronJob: WorkloadRule = (next, _old, subresource) => {
  if (subresource === 'status') return [];
  const spec = specOf(next);
  return [
    ...validateSchedule(spec.schedule),
    ...oneOf('spec.concurrencyPolicy', spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']),
    ...validateJobSpec(objectAt(objectAt(spec, 'jobTemplate'), 'spec'), 'spec.jobTemplate.spec'),
  ];
};

/**
 * Checks that the schedule has five fields or is a macro. The content of the fields is not checked. In a real cluster,
 * the CronJob controller checks it.
 */
function validateSchedule(schedule: Json | undefined): Cause[] {
  const text = typeof schedule === 'string' ? schedule.trim() : '';
  if (text === '') return [required('spec.schedule')];
  const fields = text.split(/\s+/);
  if (text.startsWith('@') || fields.length === 5) return [];
  const why = `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  return [invalidValue('spec.schedule', text, why)];
}

export const validatePod: WorkloadRule = (next, _old, subresource) =>
  subresource === 'status' ? [] : validatePodSpec(specOf(next), 'spec');

function immutable(spec: JsonObject, old: KubeObject | undefined, key: string): Cause[] {
  if (old === undefined || jsonEquals(spec[key], specOf(old)[key])) return [];
  return [invalidValue(`spec.${key}`, spec[key], FIELD_IS_IMMUTABLE)];
}

function specOf(object: KubeObject): JsonObject {
  return objectAt(object, 'spec');
}
