// Defines the table columns of built-in kinds as in `kubectl get` of Kubernetes 1.36. Kinds without an entry show name
// and creation time.

import type { KubeObject } from '../../rules/object.ts';
import { formatAge } from './age.ts';
import {
  ageOrNone,
  at,
  cell,
  containerColumns,
  integerColumn,
  labelsText,
  listAt,
  NONE,
  numberAt,
  selectorText,
  sizeOf,
  textAt,
  textColumn,
  wide,
} from './cells.ts';
import type { Column } from './column.ts';
import { claimColumns, eventColumns, externalAddresses, podColumns, servicePorts } from './core-columns.ts';

type Columns = (name: Column, age: Column) => readonly Column[];

export const BUILTIN_COLUMNS: Readonly<Record<string, Columns>> = {
  '/Namespace': (name, age) => [name, textColumn('Status', 'status.phase'), age],
  '/ConfigMap': (name, age) => [
    name,
    cell('Data', (object) => sizeOf(object, 'data') + sizeOf(object, 'binaryData')),
    age,
  ],
  '/Secret': (name, age) => [name, textColumn('Type', 'type'), cell('Data', (object) => sizeOf(object, 'data')), age],
  '/ServiceAccount': (name, age) => [name, age],
  '/Service': (name, age) => [
    name,
    textColumn('Type', 'spec.type'),
    cell('Cluster-IP', (object) => textAt(object, 'spec.clusterIP') || NONE),
    cell('External-IP', externalAddresses),
    cell('Port(s)', servicePorts),
    age,
    wide(cell('Selector', (object) => labelsText(at(object, 'spec.selector')))),
  ],
  '/Pod': podColumns,
  '/PersistentVolumeClaim': claimColumns,
  '/Event': eventColumns,
  'events.k8s.io/Event': eventColumns,
  'apps/Deployment': (name, age) => [
    name,
    cell('Ready', readyReplicas),
    cell('Up-to-date', (object) => numberAt(object, 'status.updatedReplicas')),
    cell('Available', (object) => numberAt(object, 'status.availableReplicas')),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ],
  'apps/StatefulSet': (name, age) => [name, cell('Ready', readyReplicas), age, ...containerColumns('spec.template')],
  'apps/ReplicaSet': (name, age) => [
    name,
    integerColumn('Desired', 'spec.replicas'),
    integerColumn('Current', 'status.replicas'),
    integerColumn('Ready', 'status.readyReplicas'),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ],
  'apps/DaemonSet': (name, age) => [
    name,
    integerColumn('Desired', 'status.desiredNumberScheduled'),
    integerColumn('Current', 'status.currentNumberScheduled'),
    integerColumn('Ready', 'status.numberReady'),
    integerColumn('Up-to-date', 'status.updatedNumberScheduled'),
    integerColumn('Available', 'status.numberAvailable'),
    cell('Node Selector', (object) => labelsText(at(object, 'spec.template.spec.nodeSelector'))),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ],
  'batch/Job': jobColumns,
  'batch/CronJob': (name, age) => [
    name,
    textColumn('Schedule', 'spec.schedule'),
    cell('Timezone', (object) => textAt(object, 'spec.timeZone') || NONE),
    { ...cell('Suspend', (object) => (at(object, 'spec.suspend') === true ? 'True' : 'False')), type: 'boolean' },
    { ...cell('Active', (object) => listAt(object, 'status.active').length), type: 'integer' },
    cell('Last Schedule', (object, now) => ageOrNone(at(object, 'status.lastScheduleTime'), now)),
    age,
    ...containerColumns('spec.jobTemplate.spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.jobTemplate.spec.selector')))),
  ],
  'rbac.authorization.k8s.io/RoleBinding': bindingColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingColumns,
  'networking.k8s.io/NetworkPolicy': (name, age) => [
    name,
    cell('Pod-Selector', (object) => selectorText(at(object, 'spec.podSelector'))),
    age,
  ],
  'networking.k8s.io/Ingress': ingressColumns,
  'policy/PodDisruptionBudget': (name, age) => [
    name,
    cell('Min Available', (object) => textAt(object, 'spec.minAvailable') || 'N/A'),
    cell('Max Unavailable', (object) => textAt(object, 'spec.maxUnavailable') || 'N/A'),
    integerColumn('Allowed Disruptions', 'status.disruptionsAllowed'),
    age,
  ],
  'autoscaling/HorizontalPodAutoscaler': autoscalerColumns,
  'coordination.k8s.io/Lease': (name, age) => [name, textColumn('Holder', 'spec.holderIdentity'), age],
};

function readyReplicas(object: KubeObject): string {
  return `${numberAt(object, 'status.readyReplicas')}/${numberAt(object, 'spec.replicas')}`;
}

function jobColumns(name: Column, age: Column): readonly Column[] {
  const condition = (object: KubeObject, type: string) =>
    listAt(object, 'status.conditions').some((entry) => entry.type === type && entry.status === 'True');
  return [
    name,
    cell('Status', (object) => {
      const found = ['Complete', 'Failed', 'Suspended', 'FailureTarget'].find((type) => condition(object, type));
      return object.metadata.deletionTimestamp === undefined ? (found ?? 'Running') : 'Terminating';
    }),
    cell(
      'Completions',
      (object) => `${numberAt(object, 'status.succeeded')}/${textAt(object, 'spec.completions') || '1'}`,
    ),
    cell('Duration', (object, now) => {
      const start = Date.parse(textAt(object, 'status.startTime'));
      const end = Date.parse(textAt(object, 'status.completionTime'));
      return Number.isNaN(start) ? '' : formatAge((Number.isNaN(end) ? now : end) - start);
    }),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ];
}

function bindingColumns(name: Column, age: Column): readonly Column[] {
  const subjects = (kind: string) => (object: KubeObject) =>
    listAt(object, 'subjects')
      .filter((subject) => subject.kind === kind)
      .map((subject) => (kind === 'ServiceAccount' ? `${String(subject.namespace ?? '')}/` : '') + String(subject.name))
      .join(', ');
  return [
    name,
    cell('Role', (object) => `${textAt(object, 'roleRef.kind')}/${textAt(object, 'roleRef.name')}`),
    age,
    wide(cell('Users', subjects('User'))),
    wide(cell('Groups', subjects('Group'))),
    wide(cell('ServiceAccounts', subjects('ServiceAccount'))),
  ];
}

function ingressColumns(name: Column, age: Column): readonly Column[] {
  return [
    name,
    cell('Class', (object) => textAt(object, 'spec.ingressClassName') || NONE),
    cell('Hosts', (object) => {
      const hosts = listAt(object, 'spec.rules')
        .map((rule) => String(rule.host ?? ''))
        .filter((host) => host !== '');
      return hosts.length === 0 ? '*' : hosts.join(',');
    }),
    cell('Address', (object) =>
      listAt(object, 'status.loadBalancer.ingress')
        .map((entry) => String(entry.ip ?? entry.hostname ?? ''))
        .join(','),
    ),
    cell('Ports', (object) => (listAt(object, 'spec.tls').length > 0 ? '80, 443' : '80')),
    age,
  ];
}

function autoscalerColumns(name: Column, age: Column): readonly Column[] {
  return [
    name,
    cell(
      'Reference',
      (object) => `${textAt(object, 'spec.scaleTargetRef.kind')}/${textAt(object, 'spec.scaleTargetRef.name')}`,
    ),
    cell('Targets', (object) => (listAt(object, 'spec.metrics').length === 0 ? NONE : '<unknown>')),
    cell('MinPods', (object) => textAt(object, 'spec.minReplicas') || '<unset>'),
    cell('MaxPods', (object) => numberAt(object, 'spec.maxReplicas')),
    cell('Replicas', (object) => numberAt(object, 'status.currentReplicas')),
    age,
  ];
}
