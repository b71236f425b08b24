// A fleet with one of every kind that the reconciler has rights for: some that stay and are changed by every commit, some
// that every commit makes anew.

import type { KubeObject } from '#kubernetes/rules/object.ts';

export interface Place {
  readonly group: string;
  readonly namespace: string;
  /** Begins the names of Namespaces; undefined: neither they nor a kind of others are declared. */
  readonly namespaces: string | undefined;
}

/** A kind of others, in the API group of the run. */
const FOREIGN = { kind: 'Vessel', plural: 'vessels' };

export function foreignDefinition(group: string): KubeObject {
  const { kind, plural } = FOREIGN;
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  const spec = {
    group: `foreign.${group}`,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.foreign.${group}` },
    spec,
  };
}

/** What docs/install.md says of other kinds. */
export function foreignRule(group: string) {
  return {
    apiGroups: [`foreign.${group}`],
    resources: [FOREIGN.plural],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
  };
}

/** The files of the commit with this number. */
export function commitOf(number: number, place: Place): Record<string, string> {
  const all = [...objects('kept', number, place), ...objects(`new-${number}`, number, place)];
  return { 'fleet.yaml': all.map((object) => JSON.stringify(object)).join('\n---\n') };
}

function objects(name: string, number: number, { group, namespace, namespaces }: Place): readonly object[] {
  const metadata = (suffix = '') => ({ name: `${name}${suffix}`, namespace, labels: { number: `n-${number}` } });
  const own = (kind: string, spec: object, suffix = '', annotations = {}) => ({
    apiVersion: `${group}/v1alpha1`,
    kind,
    metadata: { ...metadata(suffix), annotations },
    spec,
  });
  const app = { app: `${name}-plain` };
  const template = {
    metadata: { labels: app },
    spec: { containers: [{ name: 'main', image: 'example.com/plain:1' }] },
  };
  const workload = { selector: { matchLabels: app }, template, replicas: 0 };
  const plain = (apiVersion: string, kind: string, more: object = {}) => ({
    apiVersion,
    kind,
    metadata: metadata('-plain'),
    ...more,
  });
  const rbac = 'rbac.authorization.k8s.io';
  const key = { name: `${name}-plain`, key: 'number', targetEnvName: 'KEY' };
  const role = { apiGroup: rbac, kind: 'Role', name: `${name}-plain` };
  return [
    ...(namespaces === undefined
      ? []
      : [
          {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: `${namespaces}-${name}`, labels: { number: `n-${number}` } },
          },
        ]),
    own('EmbeddingServer', {}, '-embeddings'),
    own('MCPAuthzConfig', {
      type: 'cedarv1',
      config: { policies: ['permit(principal, action, resource);'], entities_json: `[]${' '.repeat(number)}` },
    }),
    own('MCPExternalAuthConfig', { type: 'unauthenticated' }),
    own('MCPGroup', { description: `number ${number}` }),
    own('MCPOIDCConfig', { type: 'inline', inline: { issuer: `https://login-${number}.example.com` } }),
    own('MCPRegistry', { registries: [{ name: 'tools', pvcRef: { claimName: 'none', path: 'registry.json' } }] }),
    own('MCPRemoteProxy', { remoteURL: 'https://mcp.example.com/mcp', oidcConfig: { type: 'kubernetes' } }, '-remote'),
    own(
      'MCPServerEntry',
      { remoteUrl: `https://mcp-${number}.example.com/mcp`, transport: 'sse', groupRef: { name } },
      '-entry',
    ),
    own('MCPServer', { image: `example.com/weather:${number}.0.0`, transport: 'stdio' }, '-server'),
    own('MCPServer', { image: 'example.com/keyed:1.0.0', transport: 'stdio', secrets: [key] }, '-keyed', {
      'skep.dev/stdio-sharing': 'perSession',
    }),
    own('MCPServer', { image: 'example.com/drowsy:1.0.0', transport: 'stdio' }, '-drowsy', {
      'skep.dev/sleep-after': '15m',
    }),
    own('MCPServer', { image: 'example.com/lost:1.0.0', transport: 'stdio', groupRef: 'nobody' }, '-lost'),
    own('MCPWebhookConfig', { validating: [{ name: `n-${number}`, url: 'https://guard.example.com/' }] }),
    own('MCPTelemetryConfig', { openTelemetry: { resourceAttributes: { number: `n-${number}` } } }),
    own('MCPToolConfig', {}),
    own('VirtualMCPCompositeToolDefinition', {
      name: 'fetch_page',
      description: 'Fetches a page.',
      steps: [{ id: 'fetch', tool: 'web.fetch' }],
    }),
    // More than one pod has a PodDisruptionBudget.
    own(
      'VirtualMCPServer',
      { incomingAuth: { type: 'anonymous' }, config: { groupRef: name }, replicas: 2 },
      '-virtual',
    ),
    plain('v1', 'ConfigMap', { data: { number: `${number}` } }),
    plain('v1', 'Secret', { stringData: { number: `${number}` } }),
    plain('v1', 'ServiceAccount'),
    plain('v1', 'Service', { spec: { clusterIP: 'None', selector: app, ports: [{ port: 80 }] } }),
    plain('apps/v1', 'Deployment', { spec: workload }),
    plain('apps/v1', 'StatefulSet', { spec: { ...workload, serviceName: `${name}-plain` } }),
    plain('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: { matchLabels: app } } }),
    plain(`${rbac}/v1`, 'Role', { rules: [] }),
    plain(`${rbac}/v1`, 'RoleBinding', { roleRef: role, subjects: [] }),
    ...(namespaces === undefined ? [] : [plain(`foreign.${group}/v1`, FOREIGN.kind, { spec: {} })]),
  ];
}
