// Allocates the addresses and ports of Services.

import type { Json, JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { Neighbours } from '../resources/behaviour.ts';
import { isUnset, itemsAt, objectAt } from './fields.ts';
import type { KindRules } from './kind.ts';
import { validateService } from './validate/service.ts';

const SERVICES = '/services';
/** Offset of the first allocated address. The range is 10.96.0.0/16, as in clusters created by kubeadm. */
const FIRST_ADDRESS = 10;
const ADDRESSES = 65_534;
const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2_768;

export const SERVICE: Partial<KindRules> = {
  nameForm: 'label',
  createsOnUpdate: true,
  returnsDeleted: true,
  validate: validateService,
  prepareCreate: (object, neighbours) => allocate(object, undefined, neighbours),
  prepareUpdate: (next, old, neighbours) => allocate(next, old, neighbours),
};

/** Allocates addresses and ports that the Service does not set. Keeps the addresses and ports of `old`. */
function allocate(object: KubeObject, old: KubeObject | undefined, neighbours: Neighbours): KubeObject {
  const spec = specOf(object);
  const before = old === undefined ? {} : specOf(old);
  if (spec.type === 'ExternalName') return withSpec(object, withoutAddress(spec));
  const kept = withKeptAddress(spec, before);
  const families = familiesOf(kept, before);
  const addressed = isUnset(kept.clusterIP) ? freeAddress(neighbours) : String(kept.clusterIP);
  const addresses = Array.isArray(kept.clusterIPs) && kept.clusterIPs.length > 0 ? kept.clusterIPs : [addressed];
  const complete = { ...kept, clusterIP: addressed, clusterIPs: addresses, ...families };
  return withSpec(object, withNodePorts(complete, before, neighbours));
}

function specOf(object: KubeObject): JsonObject {
  return objectAt(object, 'spec');
}

function withSpec(object: KubeObject, spec: JsonObject): KubeObject {
  return { ...object, spec };
}

function withoutAddress(spec: JsonObject): JsonObject {
  const { clusterIP: _ip, clusterIPs: _ips, ipFamilies: _families, ipFamilyPolicy: _policy, ...rest } = spec;
  return rest;
}

function withKeptAddress(spec: JsonObject, before: JsonObject): JsonObject {
  if (!isUnset(spec.clusterIP) || isUnset(before.clusterIP)) return spec;
  return { ...spec, clusterIP: before.clusterIP, clusterIPs: before.clusterIPs };
}

/**
 * Returns IPv4 by default. A headless Service without a selector gets both families, because its endpoints may have
 * addresses of either family.
 */
function familiesOf(spec: JsonObject, before: JsonObject): JsonObject {
  if (Array.isArray(spec.ipFamilies) && !isUnset(spec.ipFamilyPolicy)) return {};
  if (Array.isArray(before.ipFamilies)) {
    return { ipFamilies: before.ipFamilies, ipFamilyPolicy: spec.ipFamilyPolicy ?? before.ipFamilyPolicy };
  }
  const open = spec.clusterIP === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0;
  const policy = spec.ipFamilyPolicy ?? (open ? 'RequireDualStack' : 'SingleStack');
  return { ipFamilies: spec.ipFamilies ?? (open ? ['IPv4', 'IPv6'] : ['IPv4']), ipFamilyPolicy: policy };
}

function freeAddress(neighbours: Neighbours): string {
  const taken = new Set(neighbours(SERVICES).map((service) => specOf(service).clusterIP));
  for (let number = FIRST_ADDRESS; number < ADDRESSES; number += 1) {
    const address = `10.96.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  throw new Error('all addresses of 10.96.0.0/16 are allocated');
}

function withNodePorts(spec: JsonObject, before: JsonObject, neighbours: Neighbours): JsonObject {
  const ports = itemsAt(spec, 'ports');
  const hasNodePorts =
    spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  if (!hasNodePorts || ports.every((port) => port.nodePort !== undefined)) return spec;
  const taken = new Set(
    neighbours(SERVICES).flatMap((service) => itemsAt(specOf(service), 'ports').map((p) => p.nodePort)),
  );
  const numbered = ports.map((port) => {
    if (port.nodePort !== undefined) return port;
    const known = itemsAt(before, 'ports').find((old) => old.port === port.port && old.protocol === port.protocol);
    const nodePort = known?.nodePort ?? freeNodePort(taken);
    taken.add(nodePort);
    return { ...port, nodePort };
  });
  return { ...spec, ports: numbered };
}

function freeNodePort(taken: ReadonlySet<Json | undefined>): number {
  for (let port = FIRST_NODE_PORT; port < FIRST_NODE_PORT + NODE_PORTS; port += 1) if (!taken.has(port)) return port;
  throw new Error('all node ports are allocated');
}
