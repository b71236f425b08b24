// The configuration of a virtual MCP server: what VirtualMCPServer renders into a ConfigMap and `skep vmcp` reads. Knows
// nothing about clusters. The keys are those of the virtual MCP configuration model, resolved and with more beside them: see
// docs/decisions/0085-virtual-server-configuration.md.
//
// The contract, beyond this file:
// - The server runs as `vmcp --config=/etc/vmcp-config/config.yaml --host=0.0.0.0 --port=4483` in our own image, and serves
//   MCP at /mcp.
// - Nothing in the file is a reference: groups, tool configurations, workflows and settings in ConfigMaps are resolved, so
//   that the server needs no right to read anything in the cluster.
// - Secrets are never in the file, but for what authors wrote into `headerValue` and `clientSecret`: it names environment
//   variables, those of VMCP_ENV and others.
// - `backends`, `outgoingAuth`, `aggregation`, `compositeTools`, `operational` and the policies are read again when the file
//   changes: a member that joins the group or leaves it starts no new pods. Everything else is read at start.
// - A member whose authentication cannot be settled is not among the backends: it is never called without.
// - `/readyz` answers 200 once the backends have been asked for their tools and, with an optimizer, the embedding service
//   about them, or for `embeddingServiceTimeout` in vain. `/health` answers as soon as the server listens.
// - The server writes one thing into the cluster: how well each backend is, into `status.discoveredBackends` of the
//   VirtualMCPServer that VMCP_NAME and VMCP_NAMESPACE name: a forced server-side apply of a field manager of its own, with
//   name, status, lastHealthCheck, message, circuitBreakerState, circuitLastChanged, consecutiveFailures. Phase and
//   conditions are the reconciler's, which keeps what it finds there.

import assert from 'node:assert/strict';
import { DURATION_PATTERN } from '../std/duration.ts';
import { type Static, Type } from '../std/json-schema.ts';
import { yamlText } from '../std/yaml/package.ts';
import { readDocuments } from '../std/yaml/yaml.ts';
import { AUTH_SERVER_SCHEMA } from './auth-server-config.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';
import { INCOMING_AUTH, OUTGOING_AUTH } from './vmcp-config-auth.ts';
import { fillVmcpConfig } from './vmcp-config-fill.ts';
import { AGGREGATION, COMPOSITE_TOOL } from './vmcp-config-tools.ts';

/** Where the file is mounted, and the key of its ConfigMap. */
export const VMCP_CONFIG_DIRECTORY = '/etc/vmcp-config';
export const VMCP_CONFIG_FILE = 'config.yaml';

/** Environment variables of the server; the last ones are per MCPExternalAuthConfig. */
export const VMCP_ENV = {
  name: 'VMCP_NAME',
  namespace: 'VMCP_NAMESPACE',
  oidcClientSecret: 'VMCP_OIDC_CLIENT_SECRET',
  sessionHmacSecret: 'VMCP_SESSION_HMAC_SECRET',
  sessionRedisPassword: 'THV_SESSION_REDIS_PASSWORD',
  tokenExchangeClientSecret: (config: string) => `TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET_${config}`,
  headerInjectionValue: (config: string) => `TOOLHIVE_HEADER_INJECTION_VALUE_${config}`,
  bearerToken: (config: string) => `TOOLHIVE_BEARER_TOKEN_${config}`,
} as const;

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Texts = (description: string) => Type.Array(Text('One of them.'), { description });
const TextMap = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const Duration = (description: string) => Type.String({ pattern: DURATION_PATTERN, description });
const Decimal = (description: string) => Type.String({ pattern: '^([0-9]*[.])?[0-9]+$', description });

const Backend = Type.Object(
  {
    name: Text('Name of the member of the group.'),
    url: Text('Its MCP endpoint.'),
    transport: Type.Enum(['sse', 'streamable-http'], { description: 'What it speaks.' }),
    metadata: Type.Optional(TextMap('What else is known about it.')),
  },
  CLOSED,
);

const Operational = Type.Object(
  {
    logLevel: Type.Optional(Type.Literal('debug')),
    timeouts: Type.Object(
      {
        default: Duration('How long a request to a backend may take.'),
        perWorkload: Type.Optional(Type.Record(Type.String(), Duration('The same, of one backend.'))),
      },
      CLOSED,
    ),
    failureHandling: Type.Object(
      {
        healthCheckInterval: Duration('Time from one health check to the next.'),
        unhealthyThreshold: Type.Integer({ minimum: 1, description: 'Failed checks in a row that make it unhealthy.' }),
        healthCheckTimeout: Duration('How long a check may take.'),
        statusReportingInterval: Duration('Time from one report of the status to the next.'),
        partialFailureMode: Type.Enum(['fail', 'best_effort'], { description: 'When some backends are down.' }),
        circuitBreaker: Type.Object(
          {
            enabled: Type.Boolean(),
            failureThreshold: Type.Integer({ minimum: 1 }),
            timeout: Duration('How long the circuit is open.'),
          },
          CLOSED,
        ),
      },
      CLOSED,
    ),
  },
  CLOSED,
);

const Telemetry = Type.Object(
  {
    endpoint: Type.Optional(Text('host:port of the OTLP collector, without a scheme.')),
    serviceName: Text('Name that telemetry is sent under.'),
    serviceVersion: Type.Optional(Text('Version that it is sent under; that of the program otherwise.')),
    tracingEnabled: Type.Boolean(),
    metricsEnabled: Type.Boolean(),
    samplingRate: Decimal('Share of requests traced, 0.0 to 1.0.'),
    headers: Type.Optional(TextMap('Headers sent to the collector.')),
    insecure: Type.Boolean({ description: 'Plain HTTP to the collector.' }),
    enablePrometheusMetricsPath: Type.Boolean({ description: '/metrics is served.' }),
    environmentVariables: Type.Optional(Texts('Variables that become attributes of spans.')),
    customAttributes: Type.Optional(TextMap('Attributes of everything.')),
    useLegacyAttributes: Type.Boolean({ description: 'Older attribute names are sent too.' }),
  },
  { ...CLOSED, description: 'Absent: no telemetry.' },
);

const Audit = Type.Object(
  {
    enabled: Type.Unsafe<true>({ type: 'boolean', const: true }),
    component: Text('Component of the events.'),
    eventTypes: Type.Optional(Texts('Events to write. Absent: all.')),
    excludeEventTypes: Type.Optional(Texts('Events not to write.')),
    includeRequestData: Type.Boolean(),
    includeResponseData: Type.Boolean(),
    maxDataSize: Type.Integer({ minimum: 0, description: 'Bytes.' }),
    logFile: Type.Optional(Text('File. Absent: standard output.')),
  },
  { ...CLOSED, description: 'Absent: no audit log.' },
);

const Optimizer = Type.Object(
  {
    embeddingService: Type.Optional(Text('Base URL of the embedding service. Absent: tools are found by words alone.')),
    embeddingServiceTimeout: Duration('How long it may take.'),
    maxToolsToReturn: Type.Integer({ minimum: 1, maximum: 50 }),
    hybridSearchSemanticRatio: Decimal('0.0 only words, 1.0 only meaning.'),
    semanticDistanceThreshold: Decimal('0.0 the same, 2.0 the opposite.'),
  },
  { ...CLOSED, description: 'Absent: clients see all tools.' },
);

const SessionStorage = Type.Object(
  {
    provider: Type.Literal('redis'),
    address: Text('host:port of Redis.'),
    db: Type.Integer({ minimum: 0, description: 'Number of the database.' }),
    keyPrefix: Type.Optional(Text('What every key starts with.')),
  },
  { ...CLOSED, description: 'Absent: sessions are kept in memory.' },
);

/** JSON Schema of the file. */
export const VMCP_CONFIG_SCHEMA = Type.Object(
  {
    name: Text('Name of the server.'),
    groupRef: Text('Name of the group, for people.'),
    backends: Type.Array(Backend, { description: 'What is behind the server, by name.' }),
    incomingAuth: INCOMING_AUTH,
    outgoingAuth: OUTGOING_AUTH,
    authServer: Type.Optional(AUTH_SERVER_SCHEMA),
    aggregation: AGGREGATION,
    compositeTools: Type.Optional(Type.Array(COMPOSITE_TOOL, { description: 'Workflows that are offered as tools.' })),
    operational: Operational,
    metadata: Type.Optional(TextMap('What else is to be known about the server.')),
    telemetry: Type.Optional(Telemetry),
    audit: Type.Optional(Audit),
    optimizer: Type.Optional(Optimizer),
    sessionStorage: Type.Optional(SessionStorage),
  },
  { ...CLOSED, title: 'Virtual MCP server configuration' },
);

export type VmcpConfig = Static<typeof VMCP_CONFIG_SCHEMA>;

const vmcpConfigCheck = schemaCheck<VmcpConfig>(VMCP_CONFIG_SCHEMA);

/** The text of the file: equal configurations give equal text. That it fits its own schema is an invariant. */
export function formatVmcpConfig(config: VmcpConfig): string {
  const fits = vmcpConfigCheck();
  fits(config);
  const misfit = firstMisfit(fits);
  assert(misfit === undefined, `virtual server configuration ${config.name}: ${misfit?.pointer} ${misfit?.message}`);
  // Read as YAML 1.1, where yes and no are no texts.
  return yamlText(config);
}

/** The configuration with defaults filled in, or what is wrong with the text, in one sentence. */
export function readVmcpConfig(text: string): { readonly config: VmcpConfig } | { readonly fault: string } {
  const [document, ...more] = readDocuments(text, VMCP_CONFIG_FILE);
  if (document === undefined || more.length > 0) return { fault: 'the file must hold one document' };
  const [problem] = document.problems;
  if (problem !== undefined) return { fault: problem.message };
  const filled = fillVmcpConfig(document.value ?? null);
  if ('fault' in filled) return filled;
  const { value } = filled;
  const fits = vmcpConfigCheck();
  if (fits(value)) return { config: value };
  const misfit = firstMisfit(fits);
  return { fault: `${misfit?.pointer || 'the file'} ${misfit?.message}` };
}
