// Lists the tests of settings for timeouts and failures of backends, and of settings of the gate. The single settings
// of the gate are tested in test/gateway/proxy/fields.test.ts.

import { vi } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { gateConfig } from '#hosts/virtual-server/gate-config.ts';
import { PATIENCE_MS } from '../../harness/patience.ts';
import { startEndpoint } from '../credentials/endpoint.ts';
import type { FieldRow } from './field-row.ts';
import { withMembers } from './field-rows.ts';
import { connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

const SLOW_MS = 500;
const WITHIN_MS = 4000;

function elapsed<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), WITHIN_MS).unref());
}

/** Observes whether a call ends if its backend never responds. */
function seeHanging(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) => {
    // On a busy machine, the backend may time out before its first response.
    const client = await vi.waitFor(() => connect(server), { timeout: PATIENCE_MS });
    const call = client.ask('tools/call', { name: 'one_hang', arguments: {} }).then(() => 'ended');
    // Otherwise the call ends when the server stops.
    call.catch(() => undefined);
    return Promise.race([call, elapsed('hangs')]);
  });
}

interface Health {
  readonly summary: unknown;
  readonly backends: readonly { readonly circuit_state?: string }[];
}

/** Returns the health after all backends were checked. */
async function health({ origin }: TestedVirtualServer): Promise<unknown> {
  for (let ready = false; !ready; ) ready = (await fetch(`${origin}/readyz`)).ok;
  const response = await fetch(`${origin}/api/backends/health`);
  const { summary, backends } = (await response.json()) as Health;
  return [summary, backends.map(({ circuit_state }) => circuit_state)];
}

function seeSlowHealth(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, health, SLOW_MS);
}

/** Returns settings in which one backend is unreachable. */
function gone(more: Partial<VmcpConfig['operational']['failureHandling']>): Partial<VmcpConfig> {
  const backend = (name: string, url: string) => ({ name, url, transport: 'streamable-http' }) as const;
  return { ...operational(more), backends: [backend('one', 'http://one'), backend('gone', 'http://127.0.0.1:1/mcp')] };
}

/** Observes whether an unreachable backend soon becomes unhealthy. */
function seeUnhealthy(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, (server) =>
    Promise.race([server.written('"unhealthy":1').then(() => 'unhealthy'), elapsed('waited for')]),
  );
}

function seeHealth(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, health);
}

function seeList(config: VmcpConfig): Promise<unknown> {
  return withMembers(config, async (server) =>
    connect(server).then(
      () => 'connected',
      ({ message }) => message,
    ),
  );
}

const MANY = 20;

/** Observes whether a backend that always fails still gets requests. */
async function seeAsked(config: VmcpConfig): Promise<unknown> {
  let count = 0;
  const often = Promise.withResolvers<string>();
  const endpoint = await startEndpoint((_asked, response) => {
    count += 1;
    if (count === MANY) often.resolve('often');
    response.writeHead(503).end();
  });
  const server = await runVirtual(JSON.parse(JSON.stringify(config).replaceAll('http://one', `${endpoint.url}/mcp`)));
  try {
    return await Promise.race([often.promise, elapsed('seldom')]);
  } finally {
    await Promise.all([server.stop(), endpoint.close()]);
  }
}

/** Observes the version that a collector receives. */
async function seeTelemetry(config: VmcpConfig): Promise<unknown> {
  const collector = await startEndpoint((_asked, response) => void response.writeHead(200).end());
  const { host } = new URL(collector.url);
  const server = await runVirtual(JSON.parse(JSON.stringify(config).replaceAll('collector', host)));
  await connect(server).catch(() => undefined);
  await server.stop();
  await collector.close();
  return collector.asked.map(({ body }) => body.includes('9.8.7'));
}

const PLACE = { host: '127.0.0.1', port: 0, namespace: 'tests' };

function seeGate(config: VmcpConfig): unknown {
  return JSON.parse(JSON.stringify(gateConfig(config, PLACE)));
}

const OIDC: NonNullable<VmcpConfig['incomingAuth']['oidc']> = {
  ...{ issuer: 'https://id.example', audience: 'office', resource: 'https://office.example/mcp', scopes: ['openid'] },
  ...{ jwksAllowPrivateIp: false, protectedResourceAllowPrivateIp: false, insecureAllowHttp: false },
};
const TELEMETRY: NonNullable<VmcpConfig['telemetry']> = {
  ...{ endpoint: 'collector', serviceName: 'office', tracingEnabled: true, metricsEnabled: false, samplingRate: '1.0' },
  ...{ insecure: true, enablePrometheusMetricsPath: false, useLegacyAttributes: false },
};
const GATED: Partial<VmcpConfig> = {
  incomingAuth: { type: 'oidc', oidc: OIDC, authz: { type: 'none' } },
  telemetry: TELEMETRY,
  audit: { enabled: true, component: 'desk', includeRequestData: false, includeResponseData: false, maxDataSize: 0 },
};

const MEASURED: Partial<VmcpConfig> = { ...GATED, telemetry: { ...TELEMETRY, enablePrometheusMetricsPath: true } };

function gateRow(field: string, values: FieldRow['values'] = ['one', 'two']): FieldRow {
  return { field, values, base: GATED, see: seeGate };
}

const GATE_ROWS: readonly FieldRow[] = [
  gateRow('/incomingAuth/type', ['oidc', 'anonymous']),
  ...['issuer', 'audience', 'resource', 'jwksUrl', 'introspectionUrl', 'clientId', 'caBundlePath', 'authTokenFile'].map(
    (key) => gateRow(`/incomingAuth/oidc/${key}`),
  ),
  ...['namespace', 'name'].map((key) => gateRow(`/incomingAuth/oidc/serviceAccount/${key}`)),
  gateRow('/incomingAuth/oidc/scopes', [['one'], ['two']]),
  ...['issuerIsApiServer', 'jwksAllowPrivateIp', 'protectedResourceAllowPrivateIp', 'insecureAllowHttp'].map((key) =>
    gateRow(`/incomingAuth/oidc/${key}`, [true, false]),
  ),
  ...['endpoint', 'serviceName', 'samplingRate', 'caCertPath'].map((key) => gateRow(`/telemetry/${key}`)),
  ...['tracingEnabled', 'metricsEnabled', 'insecure', 'enablePrometheusMetricsPath', 'useLegacyAttributes'].map((key) =>
    gateRow(`/telemetry/${key}`, [true, false]),
  ),
  gateRow('/telemetry/headers', [{ a: 'b' }, undefined]),
  gateRow('/telemetry/headersFromEnv', [{ a: 'B' }, undefined]),
  gateRow('/telemetry/customAttributes', [{ a: 'b' }, undefined]),
  gateRow('/telemetry/environmentVariables', [['A'], undefined]),
  gateRow('/audit/component'),
  { ...gateRow('/telemetry/prometheusPort', [9000, 0]), base: MEASURED },
  { ...gateRow('/telemetry/metricsOnTransportPort', [false, true]), base: MEASURED },
];

const FAILURE = '/operational/failureHandling';
const BREAKER = { enabled: true, failureThreshold: 1, timeout: '1h' };
const ONE: Partial<VmcpConfig> = { backends: [{ name: 'one', url: 'http://one', transport: 'streamable-http' }] };

export const OPERATION_ROWS: readonly FieldRow[] = [
  ...GATE_ROWS,
  {
    field: '/telemetry/serviceVersion',
    values: ['9.8.7', undefined],
    base: { telemetry: TELEMETRY, backends: [] },
    see: seeTelemetry,
  },
  { field: '/operational/timeouts/default', values: ['700ms', '30s'], see: seeHanging },
  { field: '/operational/timeouts/perWorkload', values: [{ one: '700ms' }, { other: '700ms' }], see: seeHanging },
  {
    field: `${FAILURE}/healthCheckTimeout`,
    values: ['50ms', '30s'],
    base: { ...ONE, ...operational({ unhealthyThreshold: 1 }) },
    see: seeSlowHealth,
  },
  {
    field: `${FAILURE}/healthCheckInterval`,
    values: ['20ms', '1h'],
    base: { ...ONE, ...operational({}) },
    see: seeAsked,
  },
  { field: `${FAILURE}/unhealthyThreshold`, values: [1, 9], base: gone({}), see: seeUnhealthy },
  { field: `${FAILURE}/partialFailureMode`, values: ['fail', 'best_effort'], base: gone({}), see: seeList },
  {
    field: `${FAILURE}/circuitBreaker/enabled`,
    values: [true, false],
    base: gone({ circuitBreaker: BREAKER }),
    see: seeHealth,
  },
  {
    field: `${FAILURE}/circuitBreaker/failureThreshold`,
    values: [1, 9],
    base: gone({ circuitBreaker: BREAKER }),
    see: seeHealth,
  },
  {
    field: `${FAILURE}/circuitBreaker/timeout`,
    values: ['1ms', '1h'],
    base: { ...ONE, ...operational({ circuitBreaker: BREAKER, healthCheckInterval: '20ms' }) },
    see: seeAsked,
  },
];
