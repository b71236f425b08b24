// What follows from an MCPRemoteProxy's spec and is needed in several places: names, the port, the URL. Knows nothing
// about objects.

import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { made } from '../shared/made.ts';
import { type ProxyFacts, proxyPort } from '../shared/proxy.ts';
import type { MCPRemoteProxySpec } from './schema.ts';

export type RemoteProxy = Typed<typeof MCPRemoteProxySpec>;

/** Names of the children (kinds.md 0.5). */
export function childNames(name: string) {
  return {
    deployment: name,
    service: `mcp-${name}-remote-proxy`,
    account: `${name}-remote-proxy-runner`,
    runConfig: `${name}-runconfig`,
    inlineAuthz: `${name}-authz-inline`,
  };
}

/** `status.url` (kinds.md 2.4): without a path. */
export function proxyUrl({ name, namespace, spec }: RemoteProxy): string {
  return `http://${childNames(name).service}.${namespace}.svc.cluster.local:${proxyPort(spec)}`;
}

/** What the proxy has in common with those of other kinds. */
export function proxyOf(self: RemoteProxy): ProxyFacts {
  const { name, namespace, spec } = self;
  return {
    workload: 'mcpremoteproxy',
    ...{ name, namespace, spec },
    port: proxyPort(spec),
    origin: proxyUrl(self),
    names: childNames(name),
  };
}

export function madeObjects({ name, spec }: RemoteProxy): readonly ObjectName[] {
  const names = childNames(name);
  const account = spec.serviceAccount === undefined ? [names.account] : [];
  return made({
    Deployment: [names.deployment],
    Service: [names.service],
    ServiceAccount: account,
    Role: account,
    RoleBinding: account,
    ConfigMap: [names.runConfig, ...(spec.authzConfig?.inline === undefined ? [] : [names.inlineAuthz])],
  });
}
