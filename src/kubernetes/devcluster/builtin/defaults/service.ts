// Sets the defaults of Services, except addresses and ports that the cluster allocates.

import type { JsonObject } from '#std/json.ts';
import { fill, isUnset, objectAt } from '../fields.ts';
import type { Defaulter } from './defaulter.ts';

const CLIENT_IP_TIMEOUT_SECONDS = 10_800;

export const SERVICE_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  'core.v1.ServiceSpec': serviceSpec,
  'core.v1.ServicePort': (port) => {
    const target = isUnset(port.targetPort) || port.targetPort === 0 ? port.port : port.targetPort;
    return fill({ ...port, targetPort: target }, { protocol: 'TCP' });
  },
};

function serviceSpec(spec: JsonObject): JsonObject {
  const typed = fill(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  const affine = typed.sessionAffinity === 'ClientIP' ? withTimeout(typed) : withoutAffinityConfig(typed);
  if (affine.type === 'ExternalName') return affine;
  const internal = fill(affine, { internalTrafficPolicy: 'Cluster' });
  if (affine.type === 'ClusterIP') return internal;
  const external = fill(internal, { externalTrafficPolicy: 'Cluster' });
  return affine.type === 'LoadBalancer' ? fill(external, { allocateLoadBalancerNodePorts: true }) : external;
}

function withoutAffinityConfig({ sessionAffinityConfig: _config, ...spec }: JsonObject): JsonObject {
  return spec;
}

function withTimeout(spec: JsonObject): JsonObject {
  const config = objectAt(spec, 'sessionAffinityConfig');
  const clientIP = fill(objectAt(config, 'clientIP'), { timeoutSeconds: CLIENT_IP_TIMEOUT_SECONDS });
  return { ...spec, sessionAffinityConfig: { ...config, clientIP } };
}
