// The columns of the built-in kinds, as `kubectl get` of Kubernetes 1.36 shows them. A kind without an entry has its name
// and the time of its creation.

import type { KubeObject } from '../../kube/object.ts';
import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import { ageOf, formatAge } from './age.ts';
import type { Column } from './table.ts';

type Columns = (name: Column, age: Column) => readonly Column[];

/** By `group/Kind`. */
export const BUILTIN_COLUMNS: Readonly<Record<string, Columns>> = {
  '/Namespace': (name, age) => [name, text('Status', 'status.phase'), age],
  '/ConfigMap': (name, age) => [
    name,
    cell('Data', (object) => sizeOf(object, 'data') + sizeOf(object, 'binaryData')),
    age,
  ],
  '/Secret': (name, age) => [name, text('Type', 'type'), cell('Data', (object) => sizeOf(object, 'data')), age],
  '/ServiceAccount': (name, age) => [name, age],
  '/Service': (name, age) => [
    name,
    text('Type', 'spec.type'),
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
    integer('Desired', 'spec.replicas'),
    integer('Current', 'status.replicas'),
    integer('Ready', 'status.readyReplicas'),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ],
  'apps/DaemonSet': (name, age) => [
    name,
    integer('Desired', 'status.desiredNumberScheduled'),
    integer('Current', 'status.currentNumberScheduled'),
    integer('Ready', 'status.numberReady'),
    integer('Up-to-date', 'status.updatedNumberScheduled'),
    integer('Available', 'status.numberAvailable'),
    cell('Node Selector', (object) => labelsText(at(object, 'spec.template.spec.nodeSelector'))),
    age,
    ...containerColumns('spec.template'),
    wide(cell('Selector', (object) => selectorText(at(object, 'spec.selector')))),
  ],
  'batch/Job': jobColumns,
  'batch/CronJob': (name, age) => [
    name,
    text('Schedule', 'spec.schedule'),
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
    integer('Allowed Disruptions', 'status.disruptionsAllowed'),
    age,
  ],
  'autoscaling/HorizontalPodAutoscaler': autoscalerColumns,
  'coordination.k8s.io/Lease': (name, age) => [name, text('Holder', 'spec.holderIdentity'), age],
};

const NONE = '<none>';

function cell(name: string, read: (object: KubeObject, now: number) => Json): Column {
  return { name, type: 'string', cell: read };
}

function text(name: string, path: string): Column {
  return cell(name, (object) => textAt(object, path));
}

function integer(name: string, path: string): Column {
  return { name, type: 'integer', cell: (object) => numberAt(object, path) };
}

/** Only with `-o wide`. */
function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

function at(object: KubeObject | JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object as Json;
  for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

function textAt(object: KubeObject | JsonObject, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function numberAt(object: KubeObject, path: string): number {
  const value = at(object, path);
  return typeof value === 'number' ? value : 0;
}

function listAt(object: KubeObject | JsonObject, path: string): readonly JsonObject[] {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function sizeOf(object: KubeObject, path: string): number {
  const value = at(object, path);
  return isObject(value) ? Object.keys(value).length : 0;
}

function labelsText(value: Json | undefined): string {
  const pairs = isObject(value) ? Object.entries(value).map(([key, label]) => `${key}=${String(label)}`) : [];
  return pairs.length === 0 ? NONE : pairs.sort().join(',');
}

/** A label selector as one would type it. */
function selectorText(selector: Json | undefined): string {
  if (!isObject(selector)) return NONE;
  const exact = isObject(selector.matchLabels)
    ? Object.entries(selector.matchLabels).map(([key, value]) => `${key}=${String(value)}`)
    : [];
  const terms = Array.isArray(selector.matchExpressions)
    ? selector.matchExpressions.filter(isObject).map(expressionText)
    : [];
  const all = [...exact, ...terms].sort();
  return all.length === 0 ? NONE : all.join(',');
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = Array.isArray(values) ? values.map(String).sort().join(',') : '';
  switch (operator) {
    case 'In':
      return `${String(key)} in (${list})`;
    case 'NotIn':
      return `${String(key)} notin (${list})`;
    case 'DoesNotExist':
      return `!${String(key)}`;
    default:
      return String(key);
  }
}

function containerColumns(template: string): readonly Column[] {
  const containers = (object: KubeObject) => listAt(object, `${template}.spec.containers`);
  return [
    wide(
      cell('Containers', (object) =>
        containers(object)
          .map((container) => String(container.name))
          .join(','),
      ),
    ),
    wide(
      cell('Images', (object) =>
        containers(object)
          .map((container) => String(container.image ?? ''))
          .join(','),
      ),
    ),
  ];
}

function readyReplicas(object: KubeObject): string {
  return `${numberAt(object, 'status.readyReplicas')}/${numberAt(object, 'spec.replicas')}`;
}

function externalAddresses(object: KubeObject): string {
  const given = at(object, 'spec.externalIPs');
  const external = Array.isArray(given) ? given.map(String) : [];
  const ingress = listAt(object, 'status.loadBalancer.ingress').map((entry) =>
    String(entry.ip ?? entry.hostname ?? ''),
  );
  switch (textAt(object, 'spec.type')) {
    case 'ExternalName':
      return textAt(object, 'spec.externalName');
    case 'LoadBalancer':
      return [...ingress, ...external].join(',') || '<pending>';
    default:
      return external.join(',') || NONE;
  }
}

function servicePorts(object: KubeObject): string {
  const ports = listAt(object, 'spec.ports').map(({ port, nodePort, protocol }) => {
    const node = typeof nodePort === 'number' && nodePort > 0 ? `:${nodePort}` : '';
    return `${String(port)}${node}/${String(protocol)}`;
  });
  return ports.join(',') || NONE;
}

function podColumns(name: Column, age: Column): readonly Column[] {
  const containers = (object: KubeObject) => listAt(object, 'status.containerStatuses');
  return [
    name,
    cell('Ready', (object) => {
      const ready = containers(object).filter((status) => status.ready === true).length;
      return `${ready}/${listAt(object, 'spec.containers').length}`;
    }),
    cell('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? textAt(object, 'status.phase') : 'Terminating',
    ),
    cell('Restarts', (object) =>
      String(containers(object).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0)),
    ),
    age,
    wide(cell('IP', (object) => textAt(object, 'status.podIP') || NONE)),
    wide(cell('Node', (object) => textAt(object, 'spec.nodeName') || NONE)),
    wide(cell('Nominated Node', (object) => textAt(object, 'status.nominatedNodeName') || NONE)),
    wide(cell('Readiness Gates', () => NONE)),
  ];
}

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function claimColumns(name: Column, age: Column): readonly Column[] {
  const isBound = (object: KubeObject) => textAt(object, 'spec.volumeName') !== '';
  return [
    name,
    cell('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? textAt(object, 'status.phase') : 'Terminating',
    ),
    text('Volume', 'spec.volumeName'),
    cell('Capacity', (object) => (isBound(object) ? textAt(object, 'status.capacity.storage') : '')),
    cell('Access Modes', (object) => (isBound(object) ? accessModes(at(object, 'status.accessModes')) : '')),
    text('StorageClass', 'spec.storageClassName'),
    cell('VolumeAttributesClass', (object) => textAt(object, 'spec.volumeAttributesClassName') || '<unset>'),
    age,
    wide(cell('VolumeMode', (object) => textAt(object, 'spec.volumeMode') || '<unset>')),
  ];
}

function accessModes(modes: Json | undefined): string {
  return (Array.isArray(modes) ? modes : []).map((mode) => ACCESS_MODES[String(mode)] ?? String(mode)).join(',');
}

/** Events of both groups: the newer one has other names for the same. */
function eventColumns(name: Column): readonly Column[] {
  const subject = (object: KubeObject) => at(object, 'involvedObject') ?? at(object, 'regarding');
  const read = (object: KubeObject, ...paths: readonly string[]) =>
    paths.map((path) => textAt(object, path)).find((value) => value !== '') ?? '';
  const firstSeen = (object: KubeObject) => read(object, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime');
  const lastSeen = (object: KubeObject) =>
    read(object, 'series.lastObservedTime', 'lastTimestamp', 'deprecatedLastTimestamp') || firstSeen(object);
  return [
    cell('Last Seen', (object, now) => ageOf(lastSeen(object), now)),
    text('Type', 'type'),
    text('Reason', 'reason'),
    cell('Object', (object) => subjectText(subject(object))),
    wide(cell('Subobject', (object) => textAt(asObject(subject(object)), 'fieldPath'))),
    wide(
      cell('Source', (object) =>
        read(object, 'source.component', 'deprecatedSource.component', 'reportingComponent', 'reportingController'),
      ),
    ),
    cell('Message', (object) => read(object, 'message', 'note').trim()),
    wide(cell('First Seen', (object, now) => ageOf(firstSeen(object), now))),
    wide(cell('Count', (object) => Number(read(object, 'series.count', 'count', 'deprecatedCount') || '1'))),
    wide({ ...name, format: '' }),
  ];
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function subjectText(value: Json | undefined): string {
  const { kind, name } = asObject(value);
  const lower = String(kind ?? '').toLowerCase();
  return typeof name === 'string' && name !== '' ? `${lower}/${name}` : lower;
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

function ageOrNone(time: Json | undefined, now: number): string {
  return typeof time === 'string' ? ageOf(time, now) : NONE;
}
