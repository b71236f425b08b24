// Sets the defaults of pod templates and their nested types.

import type { JsonObject } from '#std/json.ts';
import { fill, isUnset, itemsAt } from '../fields.ts';
import type { Defaulter } from './defaulter.ts';

const FILE_MODE = 0o644;

export const POD_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  'core.v1.PodSpec': podSpec,
  'core.v1.Pod': pod,
  'core.v1.Container': container,
  'core.v1.EphemeralContainer': container,
  'core.v1.ContainerPort': (port) => fill(port, { protocol: 'TCP' }),
  'core.v1.Probe': (probe) =>
    fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  'core.v1.HTTPGetAction': (action) => fill(action, { path: '/', scheme: 'HTTP' }),
  'core.v1.GRPCAction': (action) => ({ service: '', ...action }),
  'core.v1.ObjectFieldSelector': (selector) => fill(selector, { apiVersion: 'v1' }),
  'core.v1.ResourceFieldSelector': (selector) => fill(selector, { divisor: '0' }),
  'core.v1.SecretVolumeSource': (source) => fill(source, { defaultMode: FILE_MODE }),
  'core.v1.ConfigMapVolumeSource': (source) => fill(source, { defaultMode: FILE_MODE }),
  'core.v1.DownwardAPIVolumeSource': (source) => fill(source, { defaultMode: FILE_MODE }),
  'core.v1.ProjectedVolumeSource': (source) => fill(source, { defaultMode: FILE_MODE }),
  'core.v1.ServiceAccountTokenProjection': (source) => fill(source, { expirationSeconds: 3600 }),
  'core.v1.HostPathVolumeSource': (source) => ({ type: '', ...source }),
  'core.v1.ISCSIVolumeSource': (source) => fill(source, { iscsiInterface: 'default' }),
  'core.v1.Volume': (volume) =>
    Object.keys(volume).some((key) => key !== 'name') ? volume : { ...volume, emptyDir: {} },
};

function podSpec(spec: JsonObject): JsonObject {
  // The deprecated field always has the value of the current field.
  const account = isUnset(spec.serviceAccountName) ? spec.serviceAccount : spec.serviceAccountName;
  const named = isUnset(account) ? spec : { ...spec, serviceAccountName: account, serviceAccount: account };
  return fill(named.hostNetwork === true ? withHostPorts(named) : named, {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
}

function withHostPorts(spec: JsonObject): JsonObject {
  const containers = itemsAt(spec, 'containers').map((item) => ({
    ...item,
    ports: itemsAt(item, 'ports').map((port) => fill(port, { hostPort: port.containerPort })),
  }));
  return { ...spec, containers: containers.map((item) => (item.ports.length === 0 ? withoutPorts(item) : item)) };
}

function withoutPorts({ ports: _ports, ...item }: JsonObject): JsonObject {
  return item;
}

function container(value: JsonObject): JsonObject {
  return fill(value, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isLatest(value.image) ? 'Always' : 'IfNotPresent',
  });
}

/** True if the image has the tag `latest`, or neither tag nor digest. False for invalid image names. */
function isLatest(image: unknown): boolean {
  if (typeof image !== 'string' || image === '' || image.includes('@')) return false;
  if (/[A-Z]/.test(image.slice(image.lastIndexOf('/') + 1).split(':')[0] ?? '')) return false;
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined || tag === 'latest';
}

/** Sets the defaults that only pods have, not templates. */
function pod(value: JsonObject): JsonObject {
  const spec = typeof value.spec === 'object' && value.spec !== null && !Array.isArray(value.spec) ? value.spec : {};
  return { ...value, spec: fill(spec, { enableServiceLinks: true }) };
}
