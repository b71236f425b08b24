// The objects that an MCPServer becomes (kinds.md 0 and 1): service accounts and rights, configuration, the proxy, the
// MCP server. Knows nothing about what lives but for the replicas that others chose.

import assert from 'node:assert/strict';
import { AUTHZ_FILE, type AuthzConfigFile } from '../../contracts/authz-config.ts';
import { formatRunConfig, RUN_CONFIG_FILE } from '../../contracts/run-config.ts';
import type { KubeObject } from '../../kube/object.ts';
import { digest } from '../../std/hash.ts';
import type { JsonObject } from '../../std/json.ts';
import type { Settings, View } from '../kind.ts';
import { configMap, serviceAccount } from '../shared/generated.ts';
import { LABEL_DOMAIN, workloadLabels } from '../shared/labels.ts';
import { type ResolvedOIDC, resolveOIDC } from '../shared/oidc-settings.ts';
import { backendServices, backendStatefulSet } from './children-backend.ts';
import { egressPolicies } from './children-egress.ts';
import { proxyDeployment, proxyService } from './children-proxy.ts';
import { childNames, isStdio, proxyOrigin, type Server } from './facts.ts';
import { runConfig } from './run-config.ts';

export function children(self: Server, view: View, settings: Settings): readonly KubeObject[] {
  const { apiGroup } = settings;
  const oidc = resolvedOIDC(self, view);
  const config = runConfigMap(self, oidc, view, apiGroup);
  const authz = inlineAuthz(self, apiGroup);
  const restart = restartAnnotation(self, apiGroup);
  const mounted = mountedDigest(self, oidc, view, authz?.checksum);
  const pullSecrets = pullSecretsOf(self, settings);
  const podAnnotations = {
    [`${apiGroup}/runconfig-checksum`]: config.checksum,
    ...(mounted === undefined ? {} : { [`${apiGroup}/mounts-checksum`]: mounted }),
    ...restart,
  };
  return [
    ...accounts(self, pullSecrets),
    ...rights(self),
    config.object,
    ...(authz === undefined ? [] : [authz.object]),
    proxyDeployment(self, view, settings, { oidc, podAnnotations, pullSecrets }),
    proxyService(self),
    ...egressPolicies(self, view),
    backendStatefulSet(self, { podAnnotations: restart, pullSecrets }),
    ...backendServices(self),
  ];
}

function resolvedOIDC(self: Server, view: View): ResolvedOIDC | undefined {
  const { oidcConfig } = self.spec;
  if (oidcConfig === undefined) return undefined;
  const resolved = resolveOIDC(oidcConfig, view, proxyOrigin(self));
  assert(!('findings' in resolved), 'children are made only of resources whose references were inspected');
  return resolved;
}

function pullSecretsOf({ spec }: Server, { pullSecrets }: Settings): readonly string[] {
  const own = spec.resourceOverrides?.proxyDeployment?.imagePullSecrets ?? [];
  return [...own.map(({ name }) => name), ...pullSecrets];
}

/** The proxy's own account; the server's, unless its author names one. */
function accounts({ name, namespace, spec }: Server, pullSecrets: readonly string[]): readonly KubeObject[] {
  const { proxyAccount, backendAccount } = childNames(name);
  const labels = workloadLabels('mcpserver', name);
  return [
    serviceAccount({ name: proxyAccount, namespace, labels }, pullSecrets),
    ...(spec.serviceAccount === undefined
      ? [serviceAccount({ name: backendAccount, namespace, labels }, pullSecrets)]
      : []),
  ];
}

/**
 * What the proxy may do in the cluster: attach to the one pod of a server on standard streams, nothing otherwise. The
 * Role and its binding exist always, because clients look for them (kinds.md 1.3).
 */
function rights({ name, namespace, spec }: Server): readonly KubeObject[] {
  const { proxyAccount, statefulSet } = childNames(name);
  const resourceNames = [`${statefulSet}-0`];
  const rules: JsonObject[] = isStdio(spec)
    ? [
        { apiGroups: [''], resources: ['pods'], resourceNames, verbs: ['get'] },
        { apiGroups: [''], resources: ['pods/attach'], resourceNames, verbs: ['create', 'get'] },
      ]
    : [];
  const metadata = { name: proxyAccount, namespace, labels: workloadLabels('mcpserver', name) };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: proxyAccount },
      subjects: [{ kind: 'ServiceAccount', name: proxyAccount, namespace }],
    },
  ];
}

function runConfigMap(self: Server, oidc: ResolvedOIDC | undefined, view: View, apiGroup: string) {
  const { name, namespace } = self;
  const labels = {
    [`${LABEL_DOMAIN}/component`]: 'run-config',
    [`${LABEL_DOMAIN}/mcp-server`]: name,
    [`${LABEL_DOMAIN}/managed-by`]: 'toolhive-operator',
  };
  const data = { [RUN_CONFIG_FILE]: formatRunConfig(runConfig(self, oidc, view)) };
  return configMap(apiGroup, { name: childNames(name).runConfig, namespace, labels }, data);
}

function inlineAuthz({ name, namespace, spec }: Server, apiGroup: string) {
  const inline = spec.authzConfig?.inline;
  if (inline === undefined) return undefined;
  const labels = { ...workloadLabels('mcpserver', name), [`${LABEL_DOMAIN}/authz`]: 'inline' };
  const file: AuthzConfigFile = {
    version: '1.0',
    type: 'cedarv1',
    cedar: { policies: inline.policies, entities_json: inline.entitiesJson },
  };
  const data = { [AUTHZ_FILE]: `${JSON.stringify(file, undefined, 2)}\n` };
  return configMap(apiGroup, { name: childNames(name).inlineAuthz, namespace, labels }, data);
}

/** One digest over the content of every ConfigMap that the proxy mounts beside its run configuration. */
function mountedDigest(self: Server, oidc: ResolvedOIDC | undefined, view: View, inline: string | undefined) {
  const { authzConfig, permissionProfile } = self.spec;
  const names = [
    oidc?.bundle?.configMap,
    authzConfig?.configMap?.name,
    permissionProfile?.type === 'configmap' ? permissionProfile.name : undefined,
  ].filter((name) => name !== undefined);
  if (names.length === 0 && inline === undefined) return undefined;
  const contents = names.map((name) => {
    const found = view.find('ConfigMap', name);
    return { name, data: found?.data ?? null, binaryData: found?.binaryData ?? null };
  });
  return digest({ contents, inline });
}

/** kinds.md 1.10: a new time in this annotation of the MCPServer restarts its pods, once. */
function restartAnnotation({ resource }: Server, apiGroup: string): Readonly<Record<string, string>> {
  const key = `mcpserver.${apiGroup}/restarted-at`;
  const time = resource.metadata.annotations?.[key];
  return time === undefined || Number.isNaN(Date.parse(time)) ? {} : { [key]: time };
}
