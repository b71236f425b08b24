// Traces of a real run, as a collector receives them over OTLP/HTTP; and that nothing of OpenTelemetry is loaded where
// no one asks for them.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { createLogger } from '#hosts/log.ts';
import { startService } from '#hosts/registry/serve.ts';
import { openTracing, wantsTraces } from '#hosts/tracing.ts';
import type { CatalogueReader } from '#registry/catalogue/ports.ts';
import { readTraceParent } from '#std/telemetry/trace.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { skep } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { publish } from '../run/fleet.ts';

let world: World;
let folder: InstanceFolder;
let collector: Server;
let bodies: string[] = [];
/** By path, of the last request. */
const headers = new Map<string, IncomingHttpHeaders>();

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  folder = instanceFolder(world);
  collector = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    headers.set(request.url ?? '', request.headers);
    request.on('end', () => {
      if (request.url === '/v1/traces') bodies.push(text);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
});

afterAll(async () => {
  collector.closeAllConnections();
  await new Promise((done) => collector.close(done));
  folder.remove();
  await world.close();
});

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

function received(): Span[] {
  // biome-ignore lint/suspicious/noExplicitAny: what a collector gets is what is tested here
  const resources = bodies.flatMap((body): any[] => JSON.parse(body).resourceSpans);
  return resources.flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans);
}

test('a run, its stages, batches and looks at sources are one trace, which its result names', async () => {
  bodies = [];
  publish(world.fleet, { one: '1.0.0' });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_SERVICE_NAME: 'fleet-keeper',
  };
  const { code, stdout } = await skep(['sync', '-o', 'json'], { cwd: folder.dir, env });
  expect(code).toBe(0);
  const spans = received();
  const { traceId } = JSON.parse(stdout).run;
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  const edges = spans.map(({ name, parentSpanId = '' }) => `${names.get(parentSpanId) ?? ''} > ${name}`);
  expect([...new Set(edges)].sort()).toEqual([
    ' > run',
    'prepare > fetch',
    'run > batch',
    'run > prepare',
    'run > settle',
  ]);
  expect(bodies.join('')).toContain('"fleet-keeper"');
});

test('a webhook of a run carries its trace on', async () => {
  const origin = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  writeFileSync(join(folder.dir, 'secret'), 'shared', { mode: 0o600 });
  folder.configure({ notify: { webhooks: [{ url: `${origin}/hook`, secretFile: join(folder.dir, 'secret') }] } });
  const { stdout } = await skep(['sync', '-o', 'json'], {
    cwd: folder.dir,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: origin },
  });
  folder.configure();
  const reported = headers.get('/hook')?.traceparent;
  expect(readTraceParent(reported)).toMatchObject({ traceId: JSON.parse(stdout).run.traceId, sampled: true });
});

test('requests to the registry service are parts of the traces of those who send them', async () => {
  bodies = [];
  const origin = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: origin };
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', origin);
  const tracing = await openTracing(environment);
  vi.unstubAllEnvs();
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  const text =
    'registryName: a\nlisten: {host: 127.0.0.1, port: 0}\nregistries: [{name: tools, file: {path: tools.json}}]\nauth: {mode: anonymous}\n';
  const read = readRegistryConfig(text, 'config.yaml');
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const service = await startService(read.config, {} as CatalogueReader, logger, { traced: tracing?.request });
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  try {
    await fetch(`${service.url}/version`, { headers: { traceparent: `00-${traceId}-${spanId}-01` } });
    await fetch(`${service.url}/version`, { headers: { traceparent: 'nonsense' } });
    await fetch(`${service.url}/health`);
  } finally {
    await service.stop();
    await tracing?.close();
  }
  const spans = received();
  expect(spans.map(({ name }) => name)).toEqual(['GET /version', 'GET /version']);
  expect(spans[0]).toMatchObject({ traceId, parentSpanId: spanId });
  expect(spans[1]?.parentSpanId ?? '').toBe('');
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(logged.map((each) => each.traceId)).toEqual(spans.map((span) => span.traceId));
});

/** Node tells each file that it loads; not all that is reported are names of files. */
const TELL_LOADED = { NODE_DEBUG: 'esm' };
const LOADED = 'node_modules/@opentelemetry/';

test('a collector that is away keeps no run from its end', async () => {
  const env = { ...TELL_LOADED, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const { code, stderr } = await skep(['sync'], { cwd: folder.dir, env });
  expect(code).toBe(0);
  expect(stderr.includes(LOADED)).toBe(true);
});

test.each([
  { environment: {}, wanted: false },
  { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, wanted: false },
  { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, wanted: true },
  { environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, wanted: true },
  { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, wanted: false },
  { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, wanted: false },
])('$environment asks for traces: $wanted', ({ environment, wanted }) => {
  expect(wantsTraces(environment)).toBe(wanted);
});

test('without configuration nothing of OpenTelemetry is loaded', async () => {
  const { code, stderr } = await skep(['sync'], { cwd: folder.dir, env: TELL_LOADED });
  expect(code).toBe(0);
  expect(stderr.includes('node_modules/commander')).toBe(true);
  expect(stderr.includes(LOADED)).toBe(false);
});

test('only the tracing of the reconciler and the telemetry of proxies name packages of OpenTelemetry, and load them when they are asked to', () => {
  const root = new URL('../../../src/', import.meta.url);
  const naming = globSync('**/*.ts', { cwd: root }).filter((file) =>
    readFileSync(new URL(file, root), 'utf8').includes("'@opentelemetry/"),
  );
  expect(naming.filter((file) => file !== 'hosts/tracing.ts' && !file.startsWith('adapters/telemetry/'))).toEqual([]);
  const lines = naming.flatMap((file) => readFileSync(new URL(file, root), 'utf8').split('\n'));
  const loaded = lines.filter((line) => line.startsWith('import ') && line.includes("'@opentelemetry/"));
  expect(loaded.filter((line) => !line.startsWith('import type '))).toEqual([]);
});
