// Renders the children of an MCPServer: service accounts, roles, configuration, the proxy and the MCP server.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { JsonObject } from '#std/json.ts';
import { serviceAccount } from '../generated.ts';
import type { GeneratedSecret, KindSettings, View } from '../kind.ts';
import { workloadLabels } from '../labels.ts';
import { mountedConfigMap } from '../pods/pod.ts';
import { desiredReplicas, disruptionBudget } from '../proxy/disruption.ts';
import { proxyAccount, proxyFiles } from '../proxy/objects.ts';
import { proxyNeeds } from '../proxy/proxy.ts';
import { sessionKeys } from '../proxy/session-keys.ts';
import { sessionPasswordFile } from '../proxy/session-password.ts';
import { proxyDeployment, proxyDisruption, proxyService } from '../proxy/workload.ts';
import { reportConfigMap, reportRights } from '../tools-lock.ts';
import { backendLabels, backendSelector, backendServices, backendStatefulSet } from './children-backend.ts';
import { egressPolicies } from './children-egress.ts';
import {
  isStdio,
  isTime,
  proxyOf,
  proxyReplicas,
  restartKey,
  type Server,
  serverChildNames,
  serverReplicas,
  sessionPool,
  sleepOf,
} from './facts.ts';
import { PROFILE_DIRECTORY, runConfig } from './run-config.ts';

export function children(self: Server, view: View, settings: KindSettings): readonly KubeObject[] {
  const { apiGroup } = settings;
  const proxy = proxyOf(self);
  const needs = proxyNeeds(proxy, view, settings);
  const { permissionProfile } = self.spec;
  const profile = permissionProfile?.type === 'configmap' ? permissionProfile.name : undefined;
  const mounted = profile === undefined ? [] : [profile];
  const files = proxyFiles(proxy, runConfig(self, needs, view), { view, apiGroup, needs, atStart: [] });
  const restart = restartAnnotation(self, apiGroup);
  const { pullSecrets } = needs;
  return [
    ...proxyAccount(proxy, needs, [...rights(self), ...sleepRights(self), ...reportRights(self.resource)]),
    ...backendAccount(self, pullSecrets),
    ...files.objects,
    proxyDeployment(proxy, needs, {
      image: settings.images.proxy,
      account: proxy.names.account,
      needsToken: isStdio(self.spec) || reportConfigMap(self.resource) !== undefined || sleepOf(self) !== undefined,
      replicas: cappedProxies(self, view),
      readyAfterSeconds: 5,
      files: sessionPasswordFile(self.spec.sessionStorage),
      mounted: [
        ...files.mounted,
        ...mounted.map((name) => mountedConfigMap('permission-profile', PROFILE_DIRECTORY, { name })),
      ],
      annotations: { ...files.checksums, ...restart },
    }),
    proxyService(proxy),
    ...budgets(self, view),
    ...egressPolicies(self, view),
    backendStatefulSet(self, view, settings, { podAnnotations: restart, pullSecrets }),
    ...backendServices(self),
  ];
}

/** Returns the service account of the MCP server's pods; an empty list if the manifest names an account. */
function backendAccount({ name, namespace, spec }: Server, pullSecrets: readonly string[]): readonly KubeObject[] {
  if (spec.serviceAccount !== undefined) return [];
  const labels = workloadLabels('mcpserver', name);
  return [serviceAccount({ name: serverChildNames(name).backendAccount, namespace, labels }, pullSecrets)];
}

/** Returns the proxy's rights to attach to pods of a server on standard streams, and to delete pods of a pool. */
function rights(self: Server): JsonObject[] {
  if (!isStdio(self.spec)) return [];
  const { statefulSet } = serverChildNames(self.name);
  const pool = sessionPool(self);
  const resourceNames = Array.from({ length: pool ?? 1 }, (_, index) => `${statefulSet}-${index}`);
  return [
    { apiGroups: [''], resources: ['pods'], resourceNames, verbs: pool === undefined ? ['get'] : ['delete', 'get'] },
    { apiGroups: [''], resources: ['pods/attach'], resourceNames, verbs: ['create', 'get'] },
  ];
}

/**
 * Returns the rights of the proxy of a server that sleeps: the number of pods of this server, and the number of the
 * proxy's own pods, which it only reads.
 */
function sleepRights(self: Server): JsonObject[] {
  if (sleepOf(self) === undefined) return [];
  const { statefulSet, deployment } = serverChildNames(self.name);
  return [
    {
      apiGroups: ['apps'],
      resources: ['statefulsets/scale'],
      resourceNames: [statefulSet],
      verbs: ['get', 'patch'],
    },
    { apiGroups: ['apps'], resources: ['deployments/scale'], resourceNames: [deployment], verbs: ['get'] },
  ];
}

export function generated(self: Server): readonly GeneratedSecret[] {
  return [sessionKeys(proxyOf(self))];
}

/**
 * Returns the declared number of proxies. With stdio, and for a server that sleeps, the number is at most 1, even if
 * another controller sets it.
 */
function cappedProxies(self: Server, view: View): number | undefined {
  const proxyCount = proxyReplicas(self);
  const isSingle = isStdio(self.spec) || sleepOf(self) !== undefined;
  if (proxyCount !== undefined || !isSingle) return proxyCount;
  const chosen = desiredReplicas(undefined, view, 'Deployment', serverChildNames(self.name).deployment);
  return chosen !== undefined && chosen > 1 ? 1 : undefined;
}

/** Returns a disruption budget for the proxies and one for the MCP servers, if each has several pods. */
function budgets(self: Server, view: View): readonly KubeObject[] {
  const { name, namespace, spec } = self;
  const { deployment, statefulSet, backendDisruption } = serverChildNames(name);
  const servers = desiredReplicas(serverReplicas(self), view, 'StatefulSet', statefulSet);
  const proxies = isStdio(spec) ? 1 : desiredReplicas(spec.replicas, view, 'Deployment', deployment);
  const labels = backendLabels(self);
  return [
    ...proxyDisruption(proxyOf(self), proxies),
    ...disruptionBudget(servers, { name: backendDisruption, namespace, labels, selector: backendSelector(name) }),
  ];
}

/** Returns the annotation for the pod template. Each new time in the annotation starts new pods once. */
function restartAnnotation({ resource }: Server, apiGroup: string): Readonly<Record<string, string>> {
  const key = restartKey(apiGroup);
  const time = resource.metadata.annotations?.[key];
  return time === undefined || !isTime(time) ? {} : { [key]: time };
}
