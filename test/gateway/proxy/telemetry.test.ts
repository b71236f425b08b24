// Tests the telemetry of a proxy: traces and metrics, audit events, an unreachable collector, and that OpenTelemetry is
// loaded only if configured. In one file, because the tests share one server, one collector and the function that
// starts a proxy with both.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { formatRunConfig, type RunConfig } from '#contracts/run-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { Environment } from '#std/environment.ts';
import { readTraceParent } from '#std/telemetry/trace.ts';
import { startProgram } from '../../harness/mcp-program.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { CONFIG, callTool, get, runProxy, send, type TestedProxy } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a collector gets is what is tested here
type Any = any;

interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Any;
}

let backend: TestBackend;
let collector: Server;
let collectorUrl = '';
let sent: Sent[] = [];
let proxy: TestedProxy | undefined;

beforeAll(async () => {
  backend = await startBackend();
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      sent.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
  collectorUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
  sent = [];
});

afterAll(async () => {
  collector.closeAllConnections();
  await new Promise((done) => collector.close(done));
  await backend.close();
});

type TelemetryConfig = NonNullable<RunConfig['telemetry_config']>;

const TELEMETRY: TelemetryConfig = {
  service_name: 'small-service',
  insecure: false,
  metrics_enabled: false,
  tracing_enabled: true,
  sampling_rate: '1',
  use_legacy_attributes: false,
  enable_prometheus_metrics_path: false,
};

async function start(
  telemetry: Partial<TelemetryConfig>,
  settings: Partial<RunConfig> = {},
  environment: Environment = {},
): Promise<TestedProxy> {
  proxy = await runProxy(
    {
      target_host: '127.0.0.1',
      target_port: backend.port,
      telemetry_config: { ...TELEMETRY, endpoint: collectorUrl, ...telemetry },
      ...settings,
    },
    environment,
  );
  return proxy;
}

/** Stops the proxy, which then sends its remaining data. */
async function stopped(): Promise<void> {
  await proxy?.stop();
  proxy = undefined;
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
}

function values(attributes: readonly Any[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function spans(): Span[] {
  const resources = sent.filter(({ path }) => path.endsWith('/v1/traces')).flatMap(({ body }) => body.resourceSpans);
  return resources
    .flatMap(({ scopeSpans }: Any) => scopeSpans)
    .flatMap(({ spans: each }: Any) => each)
    .map((span: Any) => ({ ...span, attributes: values(span.attributes) }));
}

const [TRACE, PARENT] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const SAMPLED = `00-${TRACE}-${PARENT}-01`;

describe('traces', () => {
  test('the span of a call is a child of the client span and a parent of the server span, with conventional names', async () => {
    const running = await start({});
    const headers = { traceparent: SAMPLED, tracestate: 'vendor=1', baggage: 'user=7', 'user-agent': 'story' };
    await callTool(running, 'echo', { text: 'private words' }, headers);
    await stopped();
    const [span] = spans();
    expect(span).toMatchObject({ name: 'tools/call echo', traceId: TRACE, parentSpanId: PARENT, kind: 2, status: {} });
    expect(span?.traceState).toBe('vendor=1');
    const passed = backend.calls('tools/call').at(-1)?.headers;
    expect(passed).toMatchObject({ tracestate: 'vendor=1', baggage: 'user=7' });
    expect(readTraceParent(passed?.traceparent)).toEqual({ traceId: TRACE, spanId: span?.spanId, sampled: true });
    expect(span?.attributes).toEqual({
      'http.request.method': 'POST',
      'url.path': '/mcp',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'client.address': '127.0.0.1',
      'http.response.status_code': 200,
      'http.request.body.size': expect.any(Number),
      'http.response.body.size': expect.any(Number),
      'user_agent.original': 'story',
      'network.protocol.name': 'http',
      'network.protocol.version': '1.1',
      'mcp.server.name': 'small',
      'network.transport': 'tcp',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-03-26',
      'rpc.system.name': 'jsonrpc',
      'jsonrpc.protocol.version': '2.0',
      'jsonrpc.request.id': '1',
      'gen_ai.tool.name': 'echo',
      'gen_ai.operation.name': 'execute_tool',
    });
    expect(JSON.stringify(sent)).not.toContain('private words');
  });

  test('the trace context in _meta has precedence over the headers', async () => {
    const running = await start({});
    const other = `00-${'a'.repeat(32)}-${PARENT}-01`;
    await send(running, 'tools/call', { name: 'echo', _meta: { traceparent: SAMPLED } }, { traceparent: other });
    await stopped();
    expect(spans()).toMatchObject([{ traceId: TRACE, parentSpanId: PARENT }]);
  });

  test('only a share of traces is sent, and other requests pass on an unsampled parent', async () => {
    const running = await start({ sampling_rate: '0' });
    const answer = await callTool(running, 'echo');
    expect(answer.status).toBe(200);
    const passed = readTraceParent(backend.calls('tools/call').at(-1)?.headers.traceparent);
    expect(passed).toMatchObject({ sampled: false });
    await callTool(running, 'echo', {}, { traceparent: SAMPLED });
    await callTool(running, 'echo', {}, { traceparent: `00-${TRACE}-${PARENT}-00` });
    await stopped();
    expect(spans()).toMatchObject([{ traceId: TRACE }]);
  });

  test('an invalid traceparent leads to a new trace without the received tracestate', async () => {
    const running = await start({});
    await callTool(running, 'echo', {}, { traceparent: 'nonsense', tracestate: 'vendor=1' });
    await stopped();
    expect(spans()[0]?.parentSpanId ?? '').toBe('');
    expect(backend.calls('tools/call').at(-1)?.headers.tracestate).toBeUndefined();
  });

  test.each([
    { tool: 'fail', status: { code: 2 }, error: 'tool_error', rpc: undefined },
    { tool: 'break', status: { code: 2 }, error: '-32603', rpc: '-32603' },
    { tool: 'none', status: { code: 2 }, error: '-32602', rpc: '-32602' },
  ])('a call of $tool ends with error.type $error', async ({ tool, status, error, rpc }) => {
    const running = await start({});
    await callTool(running, tool);
    await stopped();
    const [span] = spans();
    expect(span?.status).toEqual(status);
    expect(span?.attributes).toMatchObject({ 'error.type': error });
    expect(span?.attributes['rpc.response.status_code']).toBe(rpc);
  });

  test('a refused request has a span, and a client error is not a server error', async () => {
    const running = await start({});
    await fetch(running.url, { method: 'POST', body: '{', headers: { traceparent: SAMPLED } });
    await stopped();
    const [span] = spans();
    expect(span).toMatchObject({ name: 'POST /mcp', traceId: TRACE, status: {} });
    expect(span?.attributes).toMatchObject({ 'http.response.status_code': 415, 'error.type': 'content-type-refused' });
  });

  test('a URI without its password is an attribute, not the name of a span', async () => {
    const running = await start({ use_legacy_attributes: true });
    await send(running, 'resources/read', { uri: 'db://user:hunter2@host/table' });
    await stopped();
    const [span] = spans();
    expect(span?.name).toBe('resources/read');
    expect(span?.attributes).toMatchObject({
      'mcp.resource.uri': 'db://host/table',
      'mcp.resource.id': 'db://host/table',
    });
    expect(JSON.stringify(sent)).not.toContain('hunter2');
  });
});

describe('metrics over OTLP', () => {
  test('the values equal those of Prometheus, with the names of OpenTelemetry', async () => {
    const telemetry = { tracing_enabled: false, metrics_enabled: true, enable_prometheus_metrics_path: true };
    const running = await start(telemetry);
    for (const tool of ['echo', 'echo', 'fail']) await callTool(running, tool);
    const { text } = await get(`${running.origin}/metrics`);
    await stopped();
    expect(sent.map(({ path }) => path)).toEqual(['/v1/metrics']);
    const metrics: Any[] = sent[0]?.body.resourceMetrics[0].scopeMetrics.flatMap(({ metrics: each }: Any) => each);
    const named = new Map(metrics.map((metric) => [metric.name, metric]));
    const calls = named.get('toolhive_mcp_tool_calls').sum;
    expect(calls).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 });
    expect(calls.dataPoints.map((point: Any) => [values(point.attributes), point.asDouble])).toEqual([
      [{ server: 'small', tool: 'echo', status: 'success' }, 2],
      [{ server: 'small', tool: 'fail', status: 'error' }, 1],
    ]);
    expect(text).toContain('toolhive_mcp_tool_calls_total{server="small",tool="echo",status="success"} 2\n');
    const operation = named.get('mcp.server.operation.duration');
    expect(operation.unit).toBe('s');
    const point = operation.histogram.dataPoints.find((each: Any) => !values(each.attributes)['error.type']);
    expect(values(point.attributes)).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-03-26',
      'jsonrpc.protocol.version': '2.0',
      'network.transport': 'tcp',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
    });
    expect(point).toMatchObject({ count: 2, explicitBounds: expect.arrayContaining([0.01, 300]) });
    expect(point.bucketCounts).toHaveLength(point.explicitBounds.length + 1);
    expect(named.get('toolhive_mcp_active_connections').sum).toMatchObject({ isMonotonic: false });
    expect(named.get('process_resident_memory').unit).toBe('By');
  });
});

describe('an unreachable collector', () => {
  test('delays neither calls nor the stop, and is logged once', async () => {
    const running = await start({ endpoint: 'http://127.0.0.1:1', metrics_enabled: true });
    expect((await callTool(running, 'echo')).status).toBe(200);
    await stopped();
    const said = running.log.filter(({ code }) => code === 'telemetry-not-sent');
    expect(said.length).toBeLessThanOrEqual(2);
  });

  test('that accepts connections without responses does not delay the stop', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const running = await start({ endpoint, metrics_enabled: true });
    await callTool(running, 'echo');
    await stopped();
    silent.closeAllConnections();
    await new Promise((done) => silent.close(done));
  });

  test('that refuses data is logged with its status, and logged again when it accepts data', async () => {
    let status = 401;
    const moody = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((done) => moody.listen(0, '127.0.0.1', done));
    const endpoint = `http://127.0.0.1:${(moody.address() as AddressInfo).port}`;
    const environment = { OTEL_METRIC_EXPORT_INTERVAL: '20' };
    const running = await start({ endpoint, tracing_enabled: false, metrics_enabled: true }, {}, environment);
    await running.written('telemetry-not-sent');
    status = 200;
    await running.written('telemetry-sent-again');
    await stopped();
    moody.closeAllConnections();
    await new Promise((done) => moody.close(done));
  });
});

test.each([
  { telemetry: { tracing_enabled: false }, why: 'neither traces nor metrics are enabled' },
  { telemetry: { endpoint: undefined }, why: 'no endpoint is configured' },
])('telemetry that cannot be sent because $why is reported at the start', async ({ telemetry, why }) => {
  const running = await start(telemetry);
  const said = running.log.filter(({ code }) => code === 'telemetry-incomplete');
  expect(said.map(({ msg }) => msg)).toEqual([`no telemetry is sent: ${why}`]);
});

test('an invalid telemetry endpoint prevents the start', async () => {
  await expect(start({ endpoint: 'ftp://collector' })).rejects.toThrow('/telemetry_config/endpoint ftp://collector');
});

describe('the listener of metrics', () => {
  test('serves metrics and health, and does not forward to the server', async () => {
    const running = await start({}, { telemetry_config: undefined, metrics: { host: '127.0.0.1', port: 0 } });
    await callTool(running, 'echo');
    const { text, headers } = await get(`${running.metricsUrl}/metrics`);
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(text).toContain('toolhive_mcp_tool_calls_total{server="small",tool="echo",status="success"} 1');
    expect(text).toContain('process_resident_memory_bytes ');
    expect((await get(`${running.metricsUrl}/health`)).json).toMatchObject({ transport: 'streamable-http' });
    const before = backend.asked.length;
    expect((await callTool({ url: `${running.metricsUrl}/mcp` }, 'echo')).status).toBe(404);
    expect(backend.asked.length).toBe(before);
    // The port for clients serves no metrics.
    expect((await get(`${running.origin}/metrics`)).status).toBe(404);
  });
});

describe('the audit', () => {
  test.each([
    { tool: 'echo', outcome: 'success' },
    { tool: 'fail', outcome: 'failure' },
    { tool: 'none', outcome: 'failure' },
    { tool: 'break', outcome: 'error' },
  ])('records $outcome for $tool', async ({ tool, outcome }) => {
    const running = await start({}, { telemetry_config: undefined, audit_config: { enabled: true, component: 'c' } });
    await callTool(running, tool);
    expect(running.audit.at(-1)).toMatchObject({ type: 'mcp_tool_call', outcome });
  });

  test('a GET that is refused opened no stream', async () => {
    const running = await start({}, { telemetry_config: undefined, audit_config: { enabled: true, component: 'c' } });
    await get(running.url, { accept: 'text/html' });
    expect(running.audit).toMatchObject([
      { type: 'http_request', outcome: 'failure', metadata: { extra: { transport: 'http' } } },
    ]);
  });
});

/** Script that prints each loaded file of OpenTelemetry packages. */
const NAME_LOADED = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.includes('node_modules/@opentelemetry/')) process.stderr.write('loads ' + url + '\\n');
      return next(url, context);
    },
  });`;

async function loaded(telemetry: TelemetryConfig | undefined): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'skep-telemetry-'));
  const file = join(folder, 'runconfig.json');
  const target = { target_host: '127.0.0.1', target_port: backend.port, telemetry_config: telemetry };
  writeFileSync(file, formatRunConfig({ ...CONFIG, ...target, port: await freePort() }));
  const skep = fileURLToPath(new URL('../../../src/skep.ts', import.meta.url));
  const preload = `data:text/javascript,${encodeURIComponent(NAME_LOADED)}`;
  const program = startProgram(['--import', preload, skep, 'proxy', '--config', file]);
  await program.printed(/^serving http:/m);
  await program.stop();
  rmSync(folder, { recursive: true });
  return program.output();
}

describe('packages of OpenTelemetry', () => {
  test('are loaded only for the configured signals', async () => {
    expect(await loaded({ ...TELEMETRY, tracing_enabled: false })).not.toContain('loads ');
    const traces = await loaded({ ...TELEMETRY, endpoint: collectorUrl });
    expect(traces).toContain('/@opentelemetry/sdk-trace/');
    expect(traces).not.toContain('/@opentelemetry/exporter-metrics-otlp-http/');
  });
});
