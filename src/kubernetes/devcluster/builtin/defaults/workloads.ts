// Sets the defaults of Deployments, StatefulSets and similar kinds.

import type { JsonObject } from '#std/json.ts';
import { fill, isUnset, itemsAt, objectAt } from '../fields.ts';
import type { Defaulter } from './defaulter.ts';

export const WORKLOAD_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  'apps.v1.DeploymentSpec': (spec) => ({
    ...fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
    strategy: strategy(objectAt(spec, 'strategy'), { maxUnavailable: '25%', maxSurge: '25%' }),
  }),
  'apps.v1.StatefulSetSpec': (spec) => ({
    ...fill(spec, {
      replicas: 1,
      revisionHistoryLimit: 10,
      podManagementPolicy: 'OrderedReady',
      persistentVolumeClaimRetentionPolicy: {},
    }),
    persistentVolumeClaimRetentionPolicy: fill(objectAt(spec, 'persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    }),
    updateStrategy: strategy(objectAt(spec, 'updateStrategy'), { partition: 0 }),
    ...claimTemplates(spec),
  }),
  'apps.v1.DaemonSetSpec': (spec) => ({
    ...fill(spec, { revisionHistoryLimit: 10 }),
    updateStrategy: strategy(objectAt(spec, 'updateStrategy'), { maxUnavailable: 1, maxSurge: 0 }),
  }),
  'apps.v1.ReplicaSetSpec': (spec) => fill(spec, { replicas: 1 }),
  'batch.v1.Job': (job) => ({ ...job, spec: jobSpec(objectAt(job, 'spec')) }),
  'batch.v1.CronJobSpec': (spec) =>
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  'autoscaling.v2.HorizontalPodAutoscalerSpec': autoscalerSpec,
};

/** Returns the strategy with defaults. The default type is `RollingUpdate`. */
function strategy(value: JsonObject, rolling: JsonObject): JsonObject {
  const typed = fill(value, { type: 'RollingUpdate' });
  if (typed.type !== 'RollingUpdate') return typed;
  return { ...typed, rollingUpdate: fill(objectAt(typed, 'rollingUpdate'), rolling) };
}

/**
 * Adds apiVersion, kind and status to claim templates, because the server stores a claim template as a whole object.
 */
function claimTemplates(spec: JsonObject): JsonObject {
  const claims = itemsAt(spec, 'volumeClaimTemplates');
  if (claims.length === 0) return {};
  return {
    volumeClaimTemplates: claims.map((claim) => ({
      ...fill(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }),
      status: fill(objectAt(claim, 'status'), { phase: 'Pending' }),
    })),
  };
}

function jobSpec(spec: JsonObject): JsonObject {
  const single = isUnset(spec.completions) && isUnset(spec.parallelism) ? { completions: 1, parallelism: 1 } : {};
  return fill(spec, {
    ...single,
    parallelism: 1,
    backoffLimit: isUnset(spec.backoffLimitPerIndex) ? 6 : 2_147_483_647,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: isUnset(spec.podFailurePolicy) ? 'TerminatingOrFailed' : 'Failed',
  });
}

const CPU_TARGET = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
];

function autoscalerSpec(spec: JsonObject): JsonObject {
  const measured = itemsAt(spec, 'metrics').length === 0 ? { ...spec, metrics: CPU_TARGET } : spec;
  const filled = fill(measured, { minReplicas: 1 });
  if (spec.behavior === undefined) return filled;
  const behavior = objectAt(spec, 'behavior');
  return {
    ...filled,
    behavior: {
      ...behavior,
      scaleUp: fill(objectAt(behavior, 'scaleUp'), {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      }),
      scaleDown: fill(objectAt(behavior, 'scaleDown'), {
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      }),
    },
  };
}
