// Fleets that run under the existing platform: its definitions, if they are on this machine, and objects of each of its kinds.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';

const DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));
const GROUP = 'toolhive.stacklok.dev';

export interface OthersFleet {
  readonly name: string;
  /** Folder of the definitions. */
  readonly folder: string;
  /** Versions that manifests are written in; the last is the version of today. */
  readonly versions: readonly string[];
  readonly specs: Readonly<Record<string, JsonObject>>;
  /** Changes of the specs, one for each kind. */
  readonly changes: Readonly<Record<string, JsonObject>>;
}

const KEY = { name: 'keys', key: 'token' };
const OIDC = { type: 'inline', inline: { issuer: 'https://login.example.com', audience: 'tools' } };
const STEPS = [{ id: 'fetch', tool: 'web.fetch', arguments: { url: '{{.params.url}}' } }];
const HEADER = { type: 'headerInjection', headerInjection: { headerName: 'X-Key', valueSecretRef: KEY } };

/** A source that only the service reads. */
const CONFIG_YAML = `sources:
  - name: tools
    file: {path: /data/registry/registry.json}
    syncPolicy: {interval: 1h}
registries:
  - {name: tools, sources: [tools]}
auth: {mode: anonymous}
`;

/** Kinds with one content in every version. */
const COMMON: Readonly<Record<string, JsonObject>> = {
  EmbeddingServer: { image: 'example.com/embeddings:1', model: 'example/small', hfTokenSecretRef: KEY },
  MCPExternalAuthConfig: HEADER,
  MCPGroup: { description: 'Tools of everybody.' },
  MCPOIDCConfig: { type: 'inline', inline: { issuer: 'https://login.example.com' } },
  MCPTelemetryConfig: {
    openTelemetry: { enabled: true, endpoint: 'https://otel.example.com:4318', metrics: { enabled: true } },
  },
  MCPToolConfig: { toolsFilter: ['search'], toolsOverride: { find: { name: 'search', description: 'Searches.' } } },
  VirtualMCPCompositeToolDefinition: { name: 'fetch_page', description: 'Fetches a page.', steps: STEPS },
};

const CHANGES: Readonly<Record<string, JsonObject>> = {
  EmbeddingServer: { image: 'example.com/embeddings:2' },
  MCPAuthzConfig: { config: { policies: ['permit(principal, action, resource) when { true };'], entities_json: '[]' } },
  MCPExternalAuthConfig: { headerInjection: { headerName: 'X-Other', valueSecretRef: KEY } },
  MCPGroup: { description: 'Tools of the office.' },
  MCPOIDCConfig: { inline: { issuer: 'https://other.example.com' } },
  MCPRegistry: { displayName: 'Of the office' },
  MCPRemoteProxy: { audit: { enabled: true } },
  MCPServer: { image: 'example.com/clock:2' },
  MCPServerEntry: { transport: 'sse' },
  MCPTelemetryConfig: { openTelemetry: { enabled: true, endpoint: 'https://other.example.com:4318' } },
  MCPToolConfig: { toolsFilter: ['search', 'other'] },
  MCPWebhookConfig: { validating: [{ name: 'guard', url: 'https://other.example.com/' }] },
  VirtualMCPCompositeToolDefinition: { description: 'Reads a page.' },
  VirtualMCPServer: { serviceType: 'NodePort' },
};

const REGISTRY = {
  configYAML: CONFIG_YAML,
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'none' } }],
  volumeMounts: [{ name: 'data', mountPath: '/data/registry' }],
};

/** Before groups were objects, and settings had kinds. */
const IN_THE_OBJECT: Readonly<Record<string, JsonObject>> = {
  ...COMMON,
  MCPRegistry: { registries: [{ name: 'tools', pvcRef: { claimName: 'none', path: 'registry.json' } }] },
  MCPRemoteProxy: { remoteURL: 'https://mcp.example.com/mcp', groupRef: 'mcpgroup-0', oidcConfig: OIDC },
  MCPServer: {
    image: 'example.com/clock:1',
    transport: 'streamable-http',
    groupRef: 'mcpgroup-0',
    oidcConfig: OIDC,
    telemetry: { openTelemetry: { enabled: true, endpoint: 'otel.example.com:4318', tracing: { enabled: true } } },
  },
  VirtualMCPServer: {
    incomingAuth: { type: 'oidc', oidcConfig: OIDC },
    config: { groupRef: 'mcpgroup-0', compositeToolRefs: [{ name: 'virtualmcpcompositetooldefinition-0' }] },
  },
};

const SERVER = {
  image: 'example.com/clock:1',
  transport: 'streamable-http',
  groupRef: { name: 'mcpgroup-0' },
  oidcConfigRef: { name: 'mcpoidcconfig-0', audience: 'tools' },
  telemetryConfigRef: { name: 'mcptelemetryconfig-0' },
  toolConfigRef: { name: 'mcptoolconfig-0' },
};

const NAMED: Readonly<Record<string, JsonObject>> = {
  ...COMMON,
  MCPRegistry: REGISTRY,
  MCPRemoteProxy: {
    remoteUrl: 'https://mcp.example.com/mcp',
    groupRef: { name: 'mcpgroup-0' },
    oidcConfigRef: { name: 'mcpoidcconfig-0', audience: 'tools' },
  },
  MCPServer: SERVER,
  MCPServerEntry: {
    remoteUrl: 'https://entry.example.com/mcp',
    transport: 'streamable-http',
    // A virtual server over it is degraded until it has reached the entry.
    groupRef: { name: 'mcpgroup-1' },
  },
  VirtualMCPServer: {
    groupRef: { name: 'mcpgroup-0' },
    incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'mcpoidcconfig-0', audience: 'tools' } },
    config: { compositeToolRefs: [{ name: 'virtualmcpcompositetooldefinition-0' }] },
  },
};

/** All fourteen kinds. */
const TODAY: Readonly<Record<string, JsonObject>> = {
  ...NAMED,
  MCPAuthzConfig: {
    type: 'cedarv1',
    config: { policies: ['permit(principal, action, resource);'], entities_json: '[]' },
  },
  MCPServer: {
    ...SERVER,
    authzConfigRef: { name: 'mcpauthzconfig-0' },
    webhookConfigRef: { name: 'mcpwebhookconfig-0' },
  },
  MCPWebhookConfig: { validating: [{ name: 'guard', url: 'https://guard.example.com/', failurePolicy: 'fail' }] },
};

const BOTH = ['v1alpha1', 'v1beta1'];

export const OTHERS_FLEETS: readonly OthersFleet[] = [
  {
    ...fleetOf('v0.44', BOTH, TODAY),
    folder: process.env.SKEP_DEFINITIONS_V0_44 ?? join(DATA, 'toolhive-crds'),
  },
  fleetOf('v0.30', BOTH, TODAY),
  fleetOf('v0.23', BOTH, NAMED),
  fleetOf('v0.22', ['v1alpha1'], NAMED),
  fleetOf('v0.18', ['v1alpha1'], { ...IN_THE_OBJECT, MCPRegistry: REGISTRY }),
  fleetOf('v0.15', ['v1alpha1'], IN_THE_OBJECT),
];

/** Its definitions are in the folder that SKEP_DEFINITIONS_V0_44 and the like name. */
function fleetOf(name: string, versions: readonly string[], specs: OthersFleet['specs']): OthersFleet {
  const named = process.env[`SKEP_DEFINITIONS_${name.toUpperCase().replace('.', '_')}`];
  return { name, folder: named ?? join(DATA, `toolhive-crds-${name}`), versions, specs, changes: CHANGES };
}

/** The definitions in another API group; none if they are not on this machine. */
export function readOthersDefinitions({ folder }: OthersFleet, group: string): readonly KubeObject[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => parse(readFileSync(join(folder, file), 'utf8').replaceAll(GROUP, group)) as KubeObject);
}

/** Names of the versions, that of the stored version, and the kind of a definition. */
export function versionsOf({ spec }: KubeObject): {
  readonly kind: string;
  readonly plural: string;
  readonly served: readonly string[];
  readonly stored: string;
} {
  const { names, versions } = isObject(spec) ? spec : {};
  const served = objectsIn(versions ?? []).filter((version) => version.served === true);
  const stored = served.find(({ storage }) => storage === true);
  const { kind, plural } = isObject(names) ? names : {};
  return {
    kind: String(kind),
    plural: String(plural),
    served: served.map(({ name }) => String(name)),
    stored: String(stored?.name),
  };
}

/** At least `count` objects: of every kind, in all versions that its definition has. */
export function othersObjects(
  { specs, versions }: OthersFleet,
  definitions: readonly KubeObject[],
  place: { readonly group: string; readonly namespace: string },
  count: number,
): readonly KubeObject[] {
  const served = new Map(definitions.map(versionsOf).map((each) => [each.kind, each.served]));
  const kinds = Object.keys(specs).filter((kind) => served.has(kind));
  const each = Math.ceil(count / kinds.length);
  return kinds.flatMap((kind) => {
    const known = versions.filter((version) => served.get(kind)?.includes(version));
    return Array.from({ length: each }, (_, number) => ({
      apiVersion: `${place.group}/${known[number % known.length]}`,
      kind,
      metadata: { name: `${kind.toLowerCase()}-${number}`, namespace: place.namespace },
      spec: specs[kind],
    }));
  });
}
