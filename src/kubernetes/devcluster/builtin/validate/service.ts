// Checks Services.

import { type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject } from '../../../rules/object.ts';
import type { Cause } from '../../api/status.ts';
import { nameComplaints, validateLabels } from '../../api/validate-metadata.ts';
import { isUnset, itemsAt, objectAt } from '../fields.ts';
import { duplicate, forbiddenField, invalidValue, oneOf, portNumber, required } from './cause.ts';
import { validatePortName } from './container.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export function validateService(next: KubeObject, old: KubeObject | undefined, subresource?: string): Cause[] {
  const spec = objectAt(next, 'spec');
  if (subresource === 'status') return validateBalancer(next, spec);
  const before = objectAt(old ?? {}, 'spec');
  const ports = itemsAt(spec, 'ports');
  const portless = spec.type === 'ExternalName' || spec.clusterIP === 'None';
  return [
    ...(old === undefined ? [] : keptAddress(spec, before)),
    ...(ports.length === 0 && !portless ? [required('spec.ports')] : []),
    ...ports.flatMap((port, index) => validatePort(port, `spec.ports[${index}]`, ports.length > 1)),
    ...duplicatePorts(ports),
    ...validateLabels(objectAt(spec, 'selector') as Record<string, string>, 'spec.selector'),
    ...oneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']),
    ...oneOf('spec.type', spec.type, TYPES),
    ...oneOf('spec.internalTrafficPolicy', spec.internalTrafficPolicy, ['Cluster', 'Local']),
    ...oneOf('spec.externalTrafficPolicy', spec.externalTrafficPolicy, ['Cluster', 'Local']),
    ...validateExternalName(spec),
  ];
}

function validateBalancer(next: KubeObject, spec: JsonObject): Cause[] {
  const balancer = objectAt(objectAt(next, 'status'), 'loadBalancer');
  if (balancer.ingress === undefined || spec.type === 'LoadBalancer') return [];
  const why = "may only be used when `spec.type` is 'LoadBalancer'";
  return [forbiddenField('status.loadBalancer.ingress', why)];
}

function validateExternalName(spec: JsonObject): Cause[] {
  if (spec.type !== 'ExternalName') return [];
  const name = String(spec.externalName ?? '').replace(/\.$/, '');
  return nameComplaints(name, 'subdomain').map((why) => invalidValue('spec.externalName', name, why));
}

function validatePort(port: JsonObject, path: string, named: boolean): Cause[] {
  const causes: Cause[] = [];
  if (isUnset(port.name)) {
    if (named) causes.push(required(`${path}.name`));
  } else {
    causes.push(
      ...nameComplaints(String(port.name), 'label').map((why) => invalidValue(`${path}.name`, port.name, why)),
    );
  }
  causes.push(...portNumber(`${path}.port`, port.port));
  causes.push(...oneOf(`${path}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']));
  const target = port.targetPort;
  if (typeof target === 'string') causes.push(...validatePortName(target, `${path}.targetPort`));
  else causes.push(...portNumber(`${path}.targetPort`, target));
  return causes;
}

function duplicatePorts(ports: readonly JsonObject[]): Cause[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  return ports.flatMap((port, index) => {
    const causes: Cause[] = [];
    const name = String(port.name ?? '');
    if (name !== '' && names.has(name)) causes.push(duplicate(`spec.ports[${index}].name`, name));
    names.add(name);
    const key = `${String(port.protocol)}/${String(port.port)}`;
    const entry = { ...(port.protocol === undefined ? {} : { protocol: port.protocol }), port: port.port ?? 0 };
    if (numbers.has(key)) causes.push(duplicate(`spec.ports[${index}]`, entry));
    numbers.add(key);
    return causes;
  });
}

/** Reports a changed cluster IP, unless the Service was or becomes an ExternalName. */
function keptAddress(spec: JsonObject, before: JsonObject): Cause[] {
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return [];
  const addresses = Array.isArray(spec.clusterIPs) ? spec.clusterIPs : [];
  const had = Array.isArray(before.clusterIPs) ? before.clusterIPs : [];
  if (had.length === 0 || jsonEquals(addresses[0], had[0])) return [];
  return [invalidValue('spec.clusterIPs[0]', addresses, 'may not change once set')];
}
