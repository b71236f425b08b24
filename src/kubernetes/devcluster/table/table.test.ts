import { expect, test } from 'vitest';
import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { builtinTypes } from '../resources/type-table.ts';
import { tableOf } from './table.ts';

const NOW = Date.UTC(2026, 0, 1, 1, 0, 0);
const CREATED = '2026-01-01T00:57:00Z';
const TEMPLATE = {
  spec: {
    containers: [
      { name: 'a', image: 'a:1' },
      { name: 'b', image: 'b:1' },
    ],
  },
};
const SELECTOR = { matchLabels: { app: 'x' } };

/** Returns a row as `kubectl get -o wide` prints it. Columns are separated by bars. */
function print(apiVersion: string, kind: string, fields: JsonObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const type = builtinTypes().find((candidate) => candidate.kind === kind && candidate.group === group);
  if (type === undefined) throw new Error(`no kind ${kind}`);
  const object: KubeObject = { apiVersion, kind, metadata: { name: 'one', creationTimestamp: CREATED }, ...fields };
  const { columnDefinitions, rows } = tableOf(type, [object], { metadata: {}, now: NOW, include: 'None' });
  const names = (columnDefinitions as { name: string }[]).map(({ name }) => name);
  const [row] = rows as { cells: unknown[] }[];
  return names.map((name, index) => `${name}=${String(row?.cells[index])}`).join(' | ');
}

const WORKLOAD = 'Containers=a,b | Images=a:1,b:1';

const rows: readonly { version: string; kind: string; fields: JsonObject; printed: string }[] = [
  {
    version: 'v1',
    kind: 'Namespace',
    fields: { status: { phase: 'Active' } },
    printed: 'Name=one | Status=Active | Age=3m',
  },
  {
    version: 'v1',
    kind: 'ConfigMap',
    fields: { data: { a: '1' }, binaryData: { b: '' } },
    printed: 'Name=one | Data=2 | Age=3m',
  },
  { version: 'v1', kind: 'Secret', fields: { type: 'Opaque' }, printed: 'Name=one | Type=Opaque | Data=0 | Age=3m' },
  { version: 'v1', kind: 'ServiceAccount', fields: {}, printed: 'Name=one | Age=3m' },
  {
    version: 'v1',
    kind: 'Service',
    fields: {
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.1',
        ports: [{ port: 80, nodePort: 30001, protocol: 'TCP' }],
        selector: { b: '2', a: '1' },
      },
      status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }] } },
    },
    printed:
      'Name=one | Type=LoadBalancer | Cluster-IP=10.96.0.1 | External-IP=lb.example | Port(s)=80:30001/TCP | Age=3m | Selector=a=1,b=2',
  },
  {
    version: 'v1',
    kind: 'Service',
    fields: { spec: { type: 'ExternalName', externalName: 'out.example' } },
    printed:
      'Name=one | Type=ExternalName | Cluster-IP=<none> | External-IP=out.example | Port(s)=<none> | Age=3m | Selector=<none>',
  },
  {
    version: 'v1',
    kind: 'Pod',
    fields: {
      spec: TEMPLATE.spec,
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        containerStatuses: [{ ready: true, restartCount: 2 }, { ready: false }],
      },
    },
    printed:
      'Name=one | Ready=1/2 | Status=Running | Restarts=2 | Age=3m | IP=10.0.0.1 | Node=<none> | Nominated Node=<none> | Readiness Gates=<none>',
  },
  {
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    fields: {
      spec: { volumeName: 'v', storageClassName: 'fast', volumeMode: 'Filesystem' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] },
    },
    printed:
      'Name=one | Status=Bound | Volume=v | Capacity=1Gi | Access Modes=RWO,ROX | StorageClass=fast | VolumeAttributesClass=<unset> | Age=3m | VolumeMode=Filesystem',
  },
  {
    version: 'v1',
    kind: 'Event',
    fields: {
      involvedObject: { kind: 'Pod', name: 'p' },
      type: 'Normal',
      reason: 'Started',
      message: ' up ',
      source: { component: 'kubelet' },
      firstTimestamp: '2026-01-01T00:59:30Z',
      lastTimestamp: '2026-01-01T00:59:40Z',
      count: 3,
    },
    printed:
      'Last Seen=20s | Type=Normal | Reason=Started | Object=pod/p | Subobject= | Source=kubelet | Message=up | First Seen=30s | Count=3 | Name=one',
  },
  {
    version: 'apps/v1',
    kind: 'Deployment',
    fields: {
      spec: { replicas: 3, selector: SELECTOR, template: TEMPLATE },
      status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
    },
    printed: `Name=one | Ready=1/3 | Up-to-date=2 | Available=1 | Age=3m | ${WORKLOAD} | Selector=app=x`,
  },
  {
    version: 'apps/v1',
    kind: 'StatefulSet',
    fields: { spec: { replicas: 1, template: TEMPLATE } },
    printed: `Name=one | Ready=0/1 | Age=3m | ${WORKLOAD}`,
  },
  {
    version: 'apps/v1',
    kind: 'ReplicaSet',
    fields: {
      spec: {
        replicas: 1,
        template: TEMPLATE,
        selector: {
          matchExpressions: [
            { key: 'a', operator: 'In', values: ['y', 'x'] },
            { key: 'b', operator: 'DoesNotExist' },
          ],
        },
      },
    },
    printed: `Name=one | Desired=1 | Current=0 | Ready=0 | Age=3m | ${WORKLOAD} | Selector=!b,a in (x,y)`,
  },
  {
    version: 'apps/v1',
    kind: 'DaemonSet',
    fields: { spec: { selector: SELECTOR, template: TEMPLATE }, status: { desiredNumberScheduled: 2 } },
    printed: `Name=one | Desired=2 | Current=0 | Ready=0 | Up-to-date=0 | Available=0 | Node Selector=<none> | Age=3m | ${WORKLOAD} | Selector=app=x`,
  },
  {
    version: 'batch/v1',
    kind: 'Job',
    fields: {
      spec: { completions: 2, template: TEMPLATE, selector: SELECTOR },
      status: { succeeded: 1, startTime: '2026-01-01T00:58:00Z', conditions: [{ type: 'Failed', status: 'True' }] },
    },
    printed: `Name=one | Status=Failed | Completions=1/2 | Duration=2m | Age=3m | ${WORKLOAD} | Selector=app=x`,
  },
  {
    version: 'batch/v1',
    kind: 'CronJob',
    fields: {
      spec: { schedule: '@daily', suspend: false, jobTemplate: { spec: { template: TEMPLATE } } },
      status: { lastScheduleTime: '2026-01-01T00:59:00Z' },
    },
    printed: `Name=one | Schedule=@daily | Timezone=<none> | Suspend=False | Active=0 | Last Schedule=60s | Age=3m | ${WORKLOAD} | Selector=<none>`,
  },
  {
    version: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    fields: {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
    printed: 'Name=one | Role=Role/r | Age=3m | Users=u | Groups= | ServiceAccounts=n/s',
  },
  { version: 'rbac.authorization.k8s.io/v1', kind: 'Role', fields: {}, printed: `Name=one | Created At=${CREATED}` },
  {
    version: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    fields: { spec: { podSelector: {} } },
    printed: 'Name=one | Pod-Selector=<none> | Age=3m',
  },
  {
    version: 'networking.k8s.io/v1',
    kind: 'Ingress',
    fields: { spec: { rules: [{ host: 'a.example' }, { host: 'b.example' }], tls: [{}] } },
    printed: 'Name=one | Class=<none> | Hosts=a.example,b.example | Address= | Ports=80, 443 | Age=3m',
  },
  {
    version: 'policy/v1',
    kind: 'PodDisruptionBudget',
    fields: { spec: { minAvailable: '50%' } },
    printed: 'Name=one | Min Available=50% | Max Unavailable=N/A | Allowed Disruptions=0 | Age=3m',
  },
  {
    version: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    fields: {
      spec: { minReplicas: 1, maxReplicas: 4, scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics: [{}] },
    },
    printed: 'Name=one | Reference=Deployment/d | Targets=<unknown> | MinPods=1 | MaxPods=4 | Replicas=0 | Age=3m',
  },
  {
    version: 'coordination.k8s.io/v1',
    kind: 'Lease',
    fields: { spec: { holderIdentity: 'h' } },
    printed: 'Name=one | Holder=h | Age=3m',
  },
];

test.each(rows)('the row of a $kind', ({ version, kind, fields, printed }) => {
  expect(print(version, kind, fields)).toBe(printed);
});
