// Computes values from an MCPServer's spec that several files need: names, ports, the transport for clients.

import type { Static } from '#std/schema.ts';
import { isRendered } from '../auth/authz-settings.ts';
import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { made } from '../made.ts';
import { type Behind, type ProxyTuning, proxyTuning } from '../proxy/annotations.ts';
import { type ProxyFacts, proxyPort } from '../proxy/proxy.ts';
import { reportNames } from '../tools-lock.ts';
import type { MCPServerSpec } from './schema.ts';

export type Server = Typed<typeof MCPServerSpec>;
type Spec = Static<typeof MCPServerSpec>;

export function serverChildNames(name: string) {
  return {
    deployment: name,
    proxyService: `mcp-${name}-proxy`,
    statefulSet: name,
    backendService: `mcp-${name}`,
    headlessService: `mcp-${name}-headless`,
    egressPolicy: `mcp-${name}-egress`,
    backendDisruption: `mcp-${name}-server`,
    sessionKeys: `${name}-session-keys`,
    proxyAccount: `${name}-proxy-runner`,
    backendAccount: `${name}-sa`,
    runConfig: `${name}-runconfig`,
    inlineAuthz: `${name}-authz-inline`,
  };
}

/**
 * Returns the port of the MCP server. Its container has the port in MCP_PORT, so a server that reads MCP_PORT needs no
 * `mcpPort`.
 */
export function backendPort({ mcpPort, targetPort }: Spec): number {
  return mcpPort ?? targetPort ?? 8080;
}

/**
 * Returns the transport that clients use: the server's own transport, or `proxyMode` for a server on standard streams.
 */
export function clientTransport({ transport, proxyMode }: Spec): 'sse' | 'streamable-http' {
  return transport === 'stdio' ? proxyMode : transport;
}

/** Returns the URL of the proxy inside the cluster, without a path. */
export function proxyOrigin({ name, namespace, spec }: Server): string {
  return `http://${serverChildNames(name).proxyService}.${namespace}.svc.cluster.local:${proxyPort(spec)}`;
}

/** Returns the URL for clients, which is also `status.url`. */
export function clientUrl(self: Server): string {
  const path = clientTransport(self.spec) === 'sse' ? `/sse#${self.name}` : '/mcp';
  return `${proxyOrigin(self)}${path}`;
}

/** Returns true if the server uses standard streams instead of a port. One proxy is attached to the streams. */
export function isStdio({ transport }: Spec): boolean {
  return transport === 'stdio';
}

/**
 * Returns the number of proxies; undefined if another controller sets the number. A server on standard streams has at
 * most one proxy, because two proxies would share its streams.
 */
export function proxyReplicas({ spec }: Pick<Server, 'spec'>): number | undefined {
  const { replicas } = spec;
  return replicas !== undefined && isStdio(spec) ? Math.min(replicas, 1) : replicas;
}

/**
 * Returns the number of MCP servers; undefined if another controller sets the number. A server on standard streams has
 * at most one process, unless each session has its own pod.
 */
export function serverReplicas(self: Server): number | undefined {
  const { backendReplicas } = self.spec;
  const capped = isStdio(self.spec) && sessionPool(self) === undefined;
  return backendReplicas !== undefined && capped ? Math.min(backendReplicas, 1) : backendReplicas;
}

/** Returns the number of pods if each session has its own pod; undefined otherwise. */
export function sessionPool(self: Server): number | undefined {
  return tuningOf(self).sharing === 'perSession' ? Math.max(self.spec.backendReplicas ?? 1, 1) : undefined;
}

/** Returns the times of a server with skep.dev/sleep-after; undefined if the server always runs. */
export function sleepOf(self: Server): { readonly afterSeconds: number; readonly wakeSeconds: number } | undefined {
  const { sleepAfterSeconds, wakeLimitSeconds } = tuningOf(self);
  if (sleepAfterSeconds === undefined) return undefined;
  return { afterSeconds: sleepAfterSeconds, wakeSeconds: wakeLimitSeconds ?? 120 };
}

/** Returns the type of the server behind the proxy, on which the effect of some settings depends. */
export function behindOf({ spec }: Pick<Server, 'spec'>): Behind {
  return isStdio(spec) ? 'servers on standard streams' : 'servers with a network';
}

function tuningOf(self: Server): ProxyTuning {
  return proxyTuning(self.resource, behindOf(self));
}

/** Returns the facts that the proxy has in common with proxies of other kinds. */
export function proxyOf(self: Server): ProxyFacts {
  const { name, namespace, spec, resource } = self;
  const { deployment, proxyService, proxyAccount, runConfig, inlineAuthz, sessionKeys } = serverChildNames(name);
  return {
    workload: 'mcpserver',
    ...{ name, namespace, spec, resource },
    hasOwnAccount: true,
    port: proxyPort(spec),
    origin: proxyOrigin(self),
    tuning: tuningOf(self),
    names: {
      ...{ deployment, service: proxyService, account: proxyAccount, runConfig, inlineAuthz, sessionKeys },
      disruptionBudget: proxyService,
    },
  };
}

/**
 * Returns all objects that the server may own. The list includes the NetworkPolicy, which some profiles do not need.
 */
export function madeObjects({ name, spec, resource }: Server): readonly ObjectName[] {
  const names = serverChildNames(name);
  return made({
    Deployment: [names.deployment],
    StatefulSet: [names.statefulSet],
    Service: [names.proxyService, ...(isStdio(spec) ? [] : [names.backendService, names.headlessService])],
    ServiceAccount: [names.proxyAccount, ...(spec.serviceAccount === undefined ? [names.backendAccount] : [])],
    Role: [names.proxyAccount],
    RoleBinding: [names.proxyAccount],
    ConfigMap: [
      names.runConfig,
      ...(isRendered(spec) ? [names.inlineAuthz] : []),
      ...reportNames(resource).map((report) => report.name),
    ],
    Secret: [names.sessionKeys],
    PodDisruptionBudget: [names.proxyService, names.backendDisruption],
    NetworkPolicy: spec.permissionProfile === undefined ? [] : [names.egressPolicy],
  });
}

/** Returns the name of the annotation with which authors restart a server. */
export function restartKey(apiGroup: string): string {
  return `mcpserver.${apiGroup}/restarted-at`;
}

export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
