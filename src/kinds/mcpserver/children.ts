// The objects that an MCPServer becomes (kinds.md 0 and 1): service accounts and rights, configuration, the proxy, the
// MCP server. Knows nothing about what lives but for the replicas that others chose.

import { SECRET_ENV } from '../../contracts/run-config.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { Settings, View } from '../kind.ts';
import { serviceAccount } from '../shared/generated.ts';
import { workloadLabels } from '../shared/labels.ts';
import { mountedConfigMap, proxyNeeds } from '../shared/proxy.ts';
import { proxyAccount, proxyFiles } from '../shared/proxy-objects.ts';
import { proxyDeployment, proxyService } from '../shared/proxy-workload.ts';
import { sessionPassword } from '../shared/session-password.ts';
import { backendServices, backendStatefulSet } from './children-backend.ts';
import { egressPolicies } from './children-egress.ts';
import { cappedReplicas, childNames, isStdio, isTime, proxyOf, restartKey, type Server } from './facts.ts';
import { PROFILE_DIRECTORY, runConfig } from './run-config.ts';

export function children(self: Server, view: View, settings: Settings): readonly KubeObject[] {
  const { apiGroup } = settings;
  const proxy = proxyOf(self);
  const needs = proxyNeeds(proxy, view, settings);
  const { permissionProfile } = self.spec;
  const profile = permissionProfile?.type === 'configmap' ? permissionProfile.name : undefined;
  const mounted = profile === undefined ? [] : [profile];
  const files = proxyFiles(proxy, runConfig(self, needs, view), needs, { view, apiGroup, mounted });
  const restart = restartAnnotation(self, apiGroup);
  const { pullSecrets } = needs;
  return [
    ...proxyAccount(proxy, needs, rights(self)),
    ...backendAccount(self, pullSecrets),
    ...files.objects,
    proxyDeployment(proxy, needs, {
      image: settings.images.proxy,
      account: proxy.names.account,
      needsToken: isStdio(self.spec),
      replicas: proxyReplicas(self, view),
      readyAfterSeconds: 5,
      env: sessionPassword(self.spec.sessionStorage, SECRET_ENV.sessionRedisPassword),
      mounted: mounted.map((name) => mountedConfigMap('permission-profile', PROFILE_DIRECTORY, { name })),
      annotations: { ...files.checksums, ...restart },
    }),
    proxyService(proxy),
    ...egressPolicies(self, view),
    backendStatefulSet(self, view, settings, { podAnnotations: restart, pullSecrets }),
    ...backendServices(self),
  ];
}

/** Where its author names none. */
function backendAccount({ name, namespace, spec }: Server, pullSecrets: readonly string[]): readonly KubeObject[] {
  if (spec.serviceAccount !== undefined) return [];
  const labels = workloadLabels('mcpserver', name);
  return [serviceAccount({ name: childNames(name).backendAccount, namespace, labels }, pullSecrets)];
}

/** The proxy attaches to the one pod of a server on standard streams, and may do nothing otherwise. */
function rights({ name, spec }: Server): JsonObject[] {
  if (!isStdio(spec)) return [];
  const resourceNames = [`${childNames(name).statefulSet}-0`];
  return [
    { apiGroups: [''], resources: ['pods'], resourceNames, verbs: ['get'] },
    { apiGroups: [''], resources: ['pods/attach'], resourceNames, verbs: ['create', 'get'] },
  ];
}

/** What the author wants; with stdio one at most, also where others chose the number. */
function proxyReplicas({ name, spec }: Server, view: View): number | undefined {
  if (spec.replicas !== undefined || !isStdio(spec)) return cappedReplicas(spec, spec.replicas);
  const live = view.find('Deployment', childNames(name).deployment)?.spec;
  return isObject(live) && typeof live.replicas === 'number' && live.replicas > 1 ? 1 : undefined;
}

/** A new time starts new pods, once: it is a part of their template. */
function restartAnnotation({ resource }: Server, apiGroup: string): Readonly<Record<string, string>> {
  const key = restartKey(apiGroup);
  const time = resource.metadata.annotations?.[key];
  return time === undefined || !isTime(time) ? {} : { [key]: time };
}
