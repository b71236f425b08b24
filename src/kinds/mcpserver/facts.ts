// What follows from an MCPServer's spec and is needed in several places: names, ports, the transport that clients see.
// Knows nothing about objects.

import type { Static } from '../../std/schema.ts';
import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { made } from '../shared/made.ts';
import { type ProxyFacts, proxyPort } from '../shared/proxy.ts';
import type { MCPServerSpec } from './schema.ts';

export type Server = Typed<typeof MCPServerSpec>;
type Spec = Static<typeof MCPServerSpec>;

/** Names of the children (kinds.md 0.5). */
export function childNames(name: string) {
  return {
    deployment: name,
    proxyService: `mcp-${name}-proxy`,
    statefulSet: name,
    backendService: `mcp-${name}`,
    headlessService: `mcp-${name}-headless`,
    egressPolicy: `mcp-${name}-egress`,
    proxyAccount: `${name}-proxy-runner`,
    backendAccount: `${name}-sa`,
    runConfig: `${name}-runconfig`,
    inlineAuthz: `${name}-authz-inline`,
  };
}

/** Told to the server as MCP_PORT, so that a server which obeys it needs no `mcpPort`. */
export function backendPort({ mcpPort, targetPort }: Spec): number {
  return mcpPort ?? targetPort ?? 8080;
}

/** What clients speak: the server's own transport, unless it has no network. */
export function clientTransport({ transport, proxyMode }: Spec): 'sse' | 'streamable-http' {
  return transport === 'stdio' ? proxyMode : transport;
}

/** Where clients inside the cluster reach the proxy, without a path. */
export function proxyOrigin({ name, namespace, spec }: Server): string {
  return `http://${childNames(name).proxyService}.${namespace}.svc.cluster.local:${proxyPort(spec)}`;
}

/** `status.url` (kinds.md 1.6). */
export function clientUrl(self: Server): string {
  const path = clientTransport(self.spec) === 'sse' ? `/sse#${self.name}` : '/mcp';
  return `${proxyOrigin(self)}${path}`;
}

/** A server on standard streams is one process, with one proxy that is attached to it. */
export function isStdio({ transport }: Spec): boolean {
  return transport === 'stdio';
}

/** Wanted number of replicas; undefined leaves it to others. */
export function cappedReplicas(spec: Spec, wanted: number | undefined): number | undefined {
  return wanted !== undefined && isStdio(spec) ? Math.min(wanted, 1) : wanted;
}

/** What the proxy has in common with those of other kinds. */
export function proxyOf(self: Server): ProxyFacts {
  const { name, namespace, spec } = self;
  const { deployment, proxyService, proxyAccount, runConfig, inlineAuthz } = childNames(name);
  return {
    workload: 'mcpserver',
    ...{ name, namespace, spec },
    port: proxyPort(spec),
    origin: proxyOrigin(self),
    names: { deployment, service: proxyService, account: proxyAccount, runConfig, inlineAuthz },
  };
}

/** The policy depends on what the permission profile says. */
export function madeObjects({ name, spec }: Server): readonly ObjectName[] {
  const names = childNames(name);
  return made({
    Deployment: [names.deployment],
    StatefulSet: [names.statefulSet],
    Service: [names.proxyService, ...(isStdio(spec) ? [] : [names.backendService, names.headlessService])],
    ServiceAccount: [names.proxyAccount, ...(spec.serviceAccount === undefined ? [names.backendAccount] : [])],
    Role: [names.proxyAccount],
    RoleBinding: [names.proxyAccount],
    ConfigMap: [names.runConfig, ...(spec.authzConfig?.inline === undefined ? [] : [names.inlineAuthz])],
    NetworkPolicy: spec.permissionProfile === undefined ? [] : [names.egressPolicy],
  });
}

/** The annotation by which authors restart a server (kinds.md 1.10). */
export function restartKey(apiGroup: string): string {
  return `mcpserver.${apiGroup}/restarted-at`;
}

export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
