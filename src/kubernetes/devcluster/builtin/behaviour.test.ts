// Tests the behaviour of built-in kinds: defaults, validation, allocated addresses and ports, and the labels of a Job.
// In one file, because the cases are two tables whose rows are read by one function.

import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { builtinTypes } from '../resources/type-table.ts';
import { builtinBehaviour } from './behaviour.ts';

function behaviourOf(kind: string) {
  const type = builtinTypes().find((candidate) => candidate.kind === kind);
  const behaviour = type === undefined ? undefined : builtinBehaviour(type);
  if (behaviour === undefined) throw new Error(`no behaviour of ${kind}`);
  return behaviour;
}

function read(kind: string, fields: JsonObject): KubeObject {
  const decoded = behaviourOf(kind).read({
    apiVersion: 'any',
    kind,
    metadata: { name: 'one', namespace: 'n', uid: 'u' },
    ...fields,
  });
  if ('mismatch' in decoded) throw new Error(decoded.mismatch);
  return decoded.object;
}

function template(spec: JsonObject = {}, labels: JsonObject = { app: 'x' }): JsonObject {
  return { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }], ...spec } };
}

const SELECTOR = { matchLabels: { app: 'x' } };

const DEFAULTS: readonly { reason: string; kind: string; given: JsonObject; filled: JsonObject }[] = [
  {
    reason: 'an image without tag is pulled always',
    kind: 'Pod',
    given: {
      spec: {
        containers: [
          { name: 'a', image: 'registry:5000/a' },
          { name: 'b', image: 'b@sha256:0' },
        ],
      },
    },
    filled: {
      spec: {
        containers: [{ imagePullPolicy: 'Always' }, { imagePullPolicy: 'IfNotPresent' }],
        enableServiceLinks: true,
      },
    },
  },
  {
    reason: 'on the host network ports are host ports, and the account has two names',
    kind: 'Pod',
    given: {
      spec: {
        hostNetwork: true,
        serviceAccountName: 's',
        containers: [{ name: 'a', image: 'a:1', ports: [{ containerPort: 1 }] }],
      },
    },
    filled: {
      spec: { serviceAccount: 's', containers: [{ ports: [{ containerPort: 1, hostPort: 1, protocol: 'TCP' }] }] },
    },
  },
  {
    reason: 'a volume without a source is an emptyDir',
    kind: 'Pod',
    given: { spec: { volumes: [{ name: 'v' }], containers: [] } },
    filled: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
  },
  {
    reason: 'a probe gets its periods, and an HTTP action its scheme',
    kind: 'Pod',
    given: { spec: { containers: [{ name: 'a', image: 'a:1', livenessProbe: { httpGet: { port: 80 } } }] } },
    filled: {
      spec: {
        containers: [
          { livenessProbe: { periodSeconds: 10, failureThreshold: 3, httpGet: { path: '/', scheme: 'HTTP' } } },
        ],
      },
    },
  },
  {
    reason: 'a Deployment with the strategy Recreate gets no settings of a rolling update',
    kind: 'Deployment',
    given: { spec: { strategy: { type: 'Recreate' }, selector: SELECTOR, template: template() } },
    filled: { spec: { strategy: { type: 'Recreate' }, replicas: 1, revisionHistoryLimit: 10 } },
  },
  {
    reason: 'claim templates of a StatefulSet become whole objects',
    kind: 'StatefulSet',
    given: {
      spec: { selector: SELECTOR, template: template(), volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: {} }] },
    },
    filled: {
      spec: {
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        volumeClaimTemplates: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }],
      },
    },
  },
  {
    reason: 'a DaemonSet updates one pod at a time',
    kind: 'DaemonSet',
    given: { spec: { template: template() } },
    filled: { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } },
  },
  {
    reason: 'a Job runs one pod to completion',
    kind: 'Job',
    given: { spec: { template: template() } },
    filled: { spec: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed' } },
  },
  {
    reason: 'a CronJob gets history limits',
    kind: 'CronJob',
    given: { spec: { jobTemplate: { spec: {} } } },
    filled: { spec: { concurrencyPolicy: 'Allow', successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 } },
  },
  {
    reason: 'an autoscaler without metrics uses the CPU',
    kind: 'HorizontalPodAutoscaler',
    given: { spec: { maxReplicas: 2, behavior: {} } },
    filled: {
      spec: {
        minReplicas: 1,
        metrics: [{ resource: { name: 'cpu' } }],
        behavior: { scaleUp: { selectPolicy: 'Max' }, scaleDown: { policies: [{ type: 'Percent' }] } },
      },
    },
  },
  {
    reason: 'a NetworkPolicy with egress rules has both types',
    kind: 'NetworkPolicy',
    given: { spec: { podSelector: {}, egress: [{ ports: [{ port: 1 }] }] } },
    filled: { spec: { policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP' }] }] } },
  },
  {
    reason: 'session affinity lasts for three hours',
    kind: 'Service',
    given: { spec: { sessionAffinity: 'ClientIP', ports: [{ port: 1 }] } },
    filled: { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } } },
  },
  {
    reason: 'a RoleBinding gets the API groups of its role and subjects',
    kind: 'RoleBinding',
    given: { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
    filled: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }],
    },
  },
];

test.each(DEFAULTS)('$reason', ({ kind, given, filled }) => {
  expect(read(kind, given)).toMatchObject(filled);
});

interface RuleRow {
  readonly reason: string;
  readonly kind: string;
  readonly fields: JsonObject;
  readonly old?: JsonObject;
  readonly fields422: readonly string[];
}

const pod = (spec: JsonObject) => ({ spec: { containers: [{ name: 'a', image: 'a:1', ...spec }] } });

const RULES: readonly RuleRow[] = [
  {
    reason: 'a container needs a name and an image',
    kind: 'Pod',
    fields: { spec: { containers: [{}] } },
    fields422: ['spec.containers[0].name', 'spec.containers[0].image'],
  },
  {
    reason: 'an environment variable has one source',
    kind: 'Pod',
    fields: pod({ env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'a' } } }] }),
    fields422: ['spec.containers[0].env[0].valueFrom'],
  },
  {
    reason: 'a variable name has no equals sign',
    kind: 'Pod',
    fields: pod({ env: [{ name: 'A=B' }] }),
    fields422: ['spec.containers[0].env[0].name'],
  },
  {
    reason: 'two mounts do not share a path',
    kind: 'Pod',
    fields: {
      spec: {
        volumes: [{ name: 'v' }],
        containers: [
          {
            name: 'a',
            image: 'a:1',
            volumeMounts: [
              { name: 'v', mountPath: '/x' },
              { name: 'v', mountPath: '/x' },
            ],
          },
        ],
      },
    },
    fields422: ['spec.containers[0].volumeMounts[1].mountPath'],
  },
  {
    reason: 'a volume has one source',
    kind: 'Pod',
    fields: {
      spec: {
        volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }],
        containers: [{ name: 'a', image: 'a:1' }],
      },
    },
    fields422: ['spec.volumes[0].hostPath'],
  },
  {
    reason: 'a probe has one handler',
    kind: 'Pod',
    fields: pod({ livenessProbe: {} }),
    fields422: ['spec.containers[0].livenessProbe'],
  },
  {
    reason: 'a port name is short and has a letter',
    kind: 'Pod',
    fields: pod({ ports: [{ name: '80', containerPort: 80 }] }),
    fields422: ['spec.containers[0].ports[0].name'],
  },
  {
    reason: 'a request is at most its limit',
    kind: 'Pod',
    fields: pod({ resources: { limits: { memory: '1Gi' }, requests: { memory: '1025Mi' } } }),
    fields422: ['spec.containers[0].resources.requests'],
  },
  {
    reason: 'pods of a Deployment must have the restart policy Always',
    kind: 'Deployment',
    fields: { spec: { selector: SELECTOR, template: template({ restartPolicy: 'Never' }) } },
    fields422: ['spec.template.spec.restartPolicy'],
  },
  {
    reason: 'pods of a Job cannot have the restart policy Always',
    kind: 'Job',
    fields: { spec: { template: template() } },
    fields422: ['spec.template.spec.restartPolicy'],
  },
  {
    reason: 'a selector has known operators',
    kind: 'ReplicaSet',
    fields: { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] }, template: template() } },
    fields422: ['spec.selector.matchExpressions[0].operator'],
  },
  {
    reason: 'a selector matches its template',
    kind: 'DaemonSet',
    fields: { spec: { selector: SELECTOR, template: template({}, { app: 'y' }) } },
    fields422: ['spec.template.metadata.labels'],
  },
  {
    reason: 'a selector cannot change',
    kind: 'Deployment',
    fields: { spec: { selector: { matchLabels: { app: 'y' } }, template: template({}, { app: 'y' }) } },
    old: { spec: { selector: SELECTOR, template: template() } },
    fields422: ['spec.selector'],
  },
  {
    reason: 'most fields of a StatefulSet cannot change',
    kind: 'StatefulSet',
    fields: { spec: { serviceName: 'b', selector: SELECTOR, template: template() } },
    old: { spec: { serviceName: 'a', selector: SELECTOR, template: template() } },
    fields422: ['spec'],
  },
  {
    reason: 'the replicas of a StatefulSet may change',
    kind: 'StatefulSet',
    fields: { spec: { replicas: 2, selector: SELECTOR, template: template() } },
    old: { spec: { selector: SELECTOR, template: template() } },
    fields422: [],
  },
  {
    reason: 'a schedule has five fields',
    kind: 'CronJob',
    fields: { spec: { schedule: '* *', jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } } },
    fields422: ['spec.schedule'],
  },
  {
    reason: 'the type of a Secret cannot change',
    kind: 'Secret',
    fields: { type: 'b' },
    old: { type: 'a' },
    fields422: ['type'],
  },
  {
    reason: 'a TLS Secret has both parts',
    kind: 'Secret',
    fields: { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    fields422: ['data[tls.key]'],
  },
  {
    reason: 'a key is either in data or in binaryData',
    kind: 'ConfigMap',
    fields: { data: { a: '' }, binaryData: { a: '' } },
    fields422: ['data[a]'],
  },
  {
    reason: 'a ConfigMap has a limit',
    kind: 'ConfigMap',
    fields: { data: { a: 'x'.repeat(1_048_577) } },
    fields422: [''],
  },
  {
    reason: 'a rule of a Role needs groups and resources',
    kind: 'Role',
    fields: { rules: [{ verbs: ['get'] }] },
    fields422: ['rules[0].apiGroups', 'rules[0].resources'],
  },
  {
    reason: 'a rule of a Role cannot have URLs',
    kind: 'Role',
    fields: { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
    fields422: ['rules[0].nonResourceURLs'],
  },
  {
    reason: 'an account in a ClusterRoleBinding has a namespace',
    kind: 'ClusterRoleBinding',
    fields: { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
    fields422: ['subjects[0].namespace'],
  },
  {
    reason: 'a subject is of a known kind',
    kind: 'RoleBinding',
    fields: { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'Robot', name: 's' }] },
    fields422: ['subjects[0].kind'],
  },
  {
    reason: 'a peer must be specified',
    kind: 'NetworkPolicy',
    fields: { spec: { podSelector: {}, ingress: [{ from: [{}] }] } },
    fields422: ['spec.ingress[0].from[0]'],
  },
  {
    reason: 'a Lease needs a positive duration',
    kind: 'Lease',
    fields: { spec: { leaseDurationSeconds: 0 } },
    fields422: ['spec.leaseDurationSeconds'],
  },
  {
    reason: 'a claim must request storage',
    kind: 'PersistentVolumeClaim',
    fields: { spec: { accessModes: ['ReadMostly'] } },
    fields422: ['spec.accessModes', 'spec.resources[storage]'],
  },
  {
    reason: 'two ports do not share a number',
    kind: 'Service',
    fields: {
      spec: {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 1 },
        ],
      },
    },
    fields422: ['spec.ports[1]'],
  },
  {
    reason: 'an external name is a DNS name',
    kind: 'Service',
    fields: { spec: { type: 'ExternalName', externalName: 'A_B' } },
    fields422: ['spec.externalName'],
  },
];

test.each(RULES)('$reason: $fields422', ({ kind, fields, old, fields422 }) => {
  const causes = behaviourOf(kind).validate(
    read(kind, fields),
    old === undefined ? undefined : read(kind, old),
    undefined,
  );
  expect(causes.map(({ field }) => field)).toEqual(fields422);
});

test('addresses and node ports are allocated once, and an update keeps them', () => {
  const { prepareCreate, prepareUpdate } = behaviourOf('Service');
  const given: KubeObject[] = [];
  for (const name of ['a', 'b']) {
    const service = read('Service', { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    given.push(prepareCreate(service, () => given));
  }
  expect(given).toMatchObject([
    { spec: { clusterIP: '10.96.0.10', ports: [{ nodePort: 30_000 }] } },
    { spec: { clusterIP: '10.96.0.11', ports: [{ nodePort: 30_001 }] } },
  ]);
  const [first] = given;
  const next = read('Service', { spec: { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'more' }] } });
  const kept = first === undefined ? undefined : prepareUpdate(next, first, () => given);
  expect(kept).toMatchObject({
    spec: { clusterIP: '10.96.0.10', ports: [{ nodePort: 30_000 }, { nodePort: 30_002 }] },
  });
});

test('a Job is linked to its pods by its uid', () => {
  const made = behaviourOf('Job').prepareCreate(
    read('Job', { spec: { template: template({ restartPolicy: 'Never' }) } }),
    () => [],
  );
  expect(made).toMatchObject({
    spec: {
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      template: { metadata: { labels: { 'job-name': 'one', app: 'x' } } },
    },
  });
});
