// Traces of a real run, as a collector receives them over OTLP/HTTP; and that nothing of OpenTelemetry is loaded where
// nobody asks for them.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wantsTraces } from '../../src/main/tracing.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { skep } from '../harness/skep.ts';
import { startWorld, type World } from '../harness/world.ts';
import { publish } from '../reconcile/fleet.ts';

let world: World;
let folder: InstanceFolder;
let collector: Server;
let bodies: string[] = [];

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  folder = instanceFolder(world);
  collector = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
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

/** Node tells each file that it loads; not all that is told are names of files. */
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
