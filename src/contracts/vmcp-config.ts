// Defines the configuration of a virtual MCP server, which VirtualMCPServer renders into a ConfigMap and `skep vmcp`
// reads. It has the keys of the virtual MCP configuration model, without references, and further keys
// (docs/decisions/0085-virtual-server-configuration.md).
//
// The contract, beyond this file:
// - The server runs as `vmcp --config=/etc/vmcp-config/config.yaml --host=0.0.0.0 --port=4483` in skep's image, and
//   serves MCP at /mcp.
// - The file contains no references: groups, tool configurations, workflows and settings in ConfigMaps are resolved.
//   The server therefore needs no rights to read settings in the cluster.
// - The file contains no secrets, except texts that authors wrote into `headerValue` and `clientSecret`. The file names
//   environment variables with the other secrets.
// - vmcp-config-keys.ts defines which keys are read again after changes. A change of the group's members starts no new
//   pods.
// - A member whose authentication cannot be determined is not in `backends`: the server never calls a member without
//   its authentication.
// - `/readyz` responds with 200 after the backends have been queried for their tools. With an optimizer, the embedding
//   service must also have embedded these tools, or must have been unavailable for `embeddingServiceTimeout`.
//   `/health` responds as soon as the server listens.
// - virtual/operator-documents.ts says how the reconciler reads the state of the server with names, and its metrics.
// - The server writes the health of each backend into `status.discoveredBackends` of its VirtualMCPServer, which
//   VMCP_NAME and VMCP_NAMESPACE name: name, status, lastHealthCheck, message, circuitBreakerState, circuitLastChanged,
//   consecutiveFailures. It uses forced server-side apply with its own field manager. The reconciler writes phase and
//   conditions, and does not change `discoveredBackends`. The server's only other write is the report about tool locks
//   (tool-lock/report.ts).

import assert from 'node:assert/strict';
import { addressFaults } from '#std/address/address.ts';
import { type Static, Type } from '#std/json-schema.ts';
import { yamlText } from '#std/yaml/package.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { AUTH_SERVER_SCHEMA } from './auth-server/config.ts';
import { fileForm, filled } from './file-form.ts';
import { RateLimiting } from './gate/rate-limiting.ts';
import { AuditFailure, REDIS } from './proxy-fields.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';
import { ListedBackend } from './virtual/backend.ts';
import { Audit, Telemetry } from './virtual/config-model.ts';
import { Operational } from './virtual/operational.ts';
import { Optimizer } from './virtual/optimizer.ts';
import { PassthroughHeaders } from './virtual/passthrough-headers.ts';
import { INCOMING_AUTH, OUTGOING_AUTH } from './vmcp-config-auth.ts';
import { fillVmcpConfig } from './vmcp-config-fill.ts';
import { AGGREGATION, COMPOSITE_TOOL } from './vmcp-config-tools.ts';

/** Folder into which the file is mounted. The name of the file is also its key in the ConfigMap. */
export const VMCP_CONFIG_DIRECTORY = '/etc/vmcp-config';
export const VMCP_CONFIG_FILE = 'config.yaml';

/** Environment variables of the server. The functions return variables for each MCPExternalAuthConfig or header. */
export const VMCP_ENV = {
  name: 'VMCP_NAME',
  namespace: 'VMCP_NAMESPACE',
  oidcClientSecret: 'VMCP_OIDC_CLIENT_SECRET',
  sessionHmacSecret: 'VMCP_SESSION_HMAC_SECRET',
  sessionRedisPassword: 'THV_SESSION_REDIS_PASSWORD',
  tokenExchangeClientSecret: (config: string) => `TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET_${config}`,
  idpClientSecret: (config: string) => `TOOLHIVE_XAA_IDP_CLIENT_SECRET_${config}`,
  targetClientSecret: (config: string) => `TOOLHIVE_XAA_TARGET_CLIENT_SECRET_${config}`,
  headerInjectionValue: (config: string) => `TOOLHIVE_HEADER_INJECTION_VALUE_${config}`,
  bearerToken: (config: string) => `TOOLHIVE_BEARER_TOKEN_${config}`,
  /** Returns the variable with the value of a header. `index`: position among the headers with secret values. */
  telemetryHeader: (index: number) => `SKEP_TELEMETRY_HEADER_${index}`,
} as const;

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const TextMap = (description: string) => Type.Record(Type.String(), Type.String(), { description });

const SessionStorage = Type.Object(
  {
    provider: Type.Literal('redis'),
    address: REDIS.address,
    db: fileForm(REDIS.db),
    keyPrefix: Type.Optional(filled(REDIS.keyPrefix)),
  },
  { ...CLOSED, description: 'Absent: sessions are kept in memory.' },
);

/** JSON Schema of the file. */
export const VMCP_CONFIG_SCHEMA = Type.Object(
  {
    name: Text('Name of the server.'),
    groupRef: Text('Name of the group, for people.'),
    backends: Type.Array(fileForm(ListedBackend), { description: 'Backends of the server, by name.' }),
    incomingAuth: INCOMING_AUTH,
    outgoingAuth: OUTGOING_AUTH,
    authServer: Type.Optional(AUTH_SERVER_SCHEMA),
    aggregation: AGGREGATION,
    compositeTools: Type.Optional(Type.Array(COMPOSITE_TOOL, { description: 'Workflows that are offered as tools.' })),
    operational: fileForm(Operational),
    metadata: Type.Optional(TextMap('Further facts about the server.')),
    passthroughHeaders: Type.Optional(fileForm(PassthroughHeaders)),
    telemetry: Type.Optional(fileForm(Telemetry)),
    audit: Type.Optional(fileForm(Audit)),
    auditFailure: Type.Optional(AuditFailure),
    optimizer: Type.Optional(fileForm(Optimizer)),
    sessionStorage: Type.Optional(SessionStorage),
    rateLimiting: Type.Optional(fileForm(RateLimiting)),
  },
  { ...CLOSED, title: 'Virtual MCP server configuration' },
);

export type VmcpConfig = Static<typeof VMCP_CONFIG_SCHEMA>;
export type VmcpBackend = VmcpConfig['backends'][number];

const vmcpConfigCheck = schemaCheck<VmcpConfig>(VMCP_CONFIG_SCHEMA);

/**
 * Returns the text of the file. Equal configurations have equal texts. Throws if the configuration does not fit the
 * schema.
 */
export function formatVmcpConfig(config: VmcpConfig): string {
  const fits = vmcpConfigCheck();
  fits(config);
  const misfit = firstMisfit(fits);
  assert(misfit === undefined, `virtual server configuration ${config.name}: ${misfit?.pointer} ${misfit?.message}`);
  // yamlText quotes texts such as yes and no, which readers of YAML 1.1 would read as booleans.
  return yamlText(config);
}

/** Default URL of the server. */
const USUAL_URL = 'http://127.0.0.1:4483/mcp';

/**
 * Returns the configuration with defaults, or the fault of the text as a sentence. `ownUrl`: resource if the file names
 * neither a resource nor an audience that is a URL.
 */
export function readVmcpConfig(
  text: string,
  ownUrl = USUAL_URL,
): { readonly config: VmcpConfig } | { readonly fault: string } {
  const [document, ...more] = readDocuments(text, VMCP_CONFIG_FILE);
  if (document === undefined || more.length > 0) return { fault: 'the file must hold one document' };
  const [problem] = document.problems;
  if (problem !== undefined) return { fault: problem.message };
  const filled = fillVmcpConfig(document.value ?? null, ownUrl);
  if ('fault' in filled) return filled;
  const { value } = filled;
  const fits = vmcpConfigCheck();
  if (fits(value)) {
    const [fault] = addressFaults(VMCP_CONFIG_SCHEMA, value);
    return fault === undefined ? { config: value } : { fault: `${fault.pointer} ${fault.message}` };
  }
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer || 'the file'} ${misfit?.message}` };
}
