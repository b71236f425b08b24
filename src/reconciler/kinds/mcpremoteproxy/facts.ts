// Computes values from an MCPRemoteProxy's spec that several files need: names, the port, the URL.

import { isRendered } from '../auth/authz-settings.ts';
import type { TokenSource } from '../auth/token-settings.ts';
import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { made } from '../made.ts';
import { proxyTuning } from '../proxy/annotations.ts';
import { type ProxyFacts, proxyPort } from '../proxy/proxy.ts';
import { reportNames } from '../tools-lock.ts';
import type { MCPRemoteProxySpec } from './schema.ts';

export type RemoteProxy = Typed<typeof MCPRemoteProxySpec>;

export function remoteProxyChildNames(name: string) {
  return {
    deployment: name,
    service: `mcp-${name}-remote-proxy`,
    account: `${name}-remote-proxy-runner`,
    runConfig: `${name}-runconfig`,
    inlineAuthz: `${name}-authz-inline`,
    sessionKeys: `${name}-remote-session-keys`,
    disruptionBudget: `mcp-${name}-remote-proxy`,
  };
}

/** Returns `status.url`, without a path. */
export function proxyUrl({ name, namespace, spec }: RemoteProxy): string {
  return `http://${remoteProxyChildNames(name).service}.${namespace}.svc.cluster.local:${proxyPort(spec)}`;
}

/**
 * Returns the settings for accepted tokens, which are required. Without them, everyone could use the proxy's
 * credentials at the remote server.
 */
export function tokenSourceOf({ oidcConfig, oidcConfigRef }: RemoteProxy['spec']): TokenSource {
  return { oidcConfig, oidcConfigRef, isRequired: true };
}

/**
 * Returns the settings of the session store; undefined for streamable HTTP, because the remote server stores the
 * sessions.
 */
export function sharedSessions({ transport, sessionStorage }: RemoteProxy['spec']) {
  return transport === 'streamable-http' ? undefined : sessionStorage;
}

/** Type of the servers behind the proxy, on which the effect of some settings depends. */
export const BEHIND = 'remote servers';

/** Returns the facts that the proxy has in common with proxies of other kinds. */
export function proxyOf(self: RemoteProxy): ProxyFacts {
  const { name, namespace, spec, resource } = self;
  return {
    workload: 'mcpremoteproxy',
    ...{ name, namespace, resource, spec: { ...spec, ...tokenSourceOf(spec) } },
    hasOwnAccount: spec.serviceAccount === undefined,
    port: proxyPort(spec),
    origin: proxyUrl(self),
    tuning: proxyTuning(self.resource, BEHIND),
    names: remoteProxyChildNames(name),
  };
}

export function madeObjects({ name, spec, resource }: RemoteProxy): readonly ObjectName[] {
  const names = remoteProxyChildNames(name);
  const reports = reportNames(resource).map((report) => report.name);
  const account = spec.serviceAccount === undefined ? [names.account] : [];
  return made({
    Deployment: [names.deployment],
    Service: [names.service],
    Secret: [names.sessionKeys],
    PodDisruptionBudget: [names.disruptionBudget],
    ServiceAccount: account,
    Role: account,
    RoleBinding: account,
    ConfigMap: [
      names.runConfig,
      ...(isRendered(spec) ? [names.inlineAuthz] : []),
      ...(account.length === 0 ? [] : reports),
    ],
  });
}
