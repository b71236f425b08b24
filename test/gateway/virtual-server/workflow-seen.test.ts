// Tests audit events, metrics and spans of workflow runs.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { callFlow, type Members, serveWorkflows, startMembers, workflow } from './workflow-world.ts';
import { connect, type TestedVirtualServer } from './world.ts';

let members: Members;
let collector: Server;
// biome-ignore lint/suspicious/noExplicitAny: what a collector gets is looked at piece by piece
let spans: any[] = [];
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  members = await startMembers();
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans = [] } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { scopeSpans } of resourceSpans) for (const each of scopeSpans) spans.push(...each.spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  spans = [];
});
afterAll(async () => {
  await members.close();
  collector.closeAllConnections();
  await new Promise((done) => collector.close(done));
});

const FLOW = workflow([
  { id: 'a', tool: 'wiki.find', arguments: { q: 'secret' } },
  {
    id: 'b',
    tool: 'wiki.flaky',
    arguments: { failures: 1, key: 'seen' },
    onError: { action: 'retry', retryCount: 1, retryDelay: '1ms' },
    dependsOn: ['a'],
  },
  { id: 'c', tool: 'wiki.find', condition: '{{.params.c}}', dependsOn: ['b'], defaultResults: {} },
]);
const FAILS = workflow([{ id: 'a', tool: 'wiki.fail' }], { name: 'fails' });
const LATE = workflow([{ id: 'a', tool: 'mail.hang' }], { name: 'late', timeout: '50ms' });

async function serve(settings: Partial<VmcpConfig>) {
  const server = await serveWorkflows(members, [FLOW, FAILS, LATE], settings);
  running.push(server);
  return server;
}

const AUDIT = {
  enabled: true,
  component: 'desk',
  includeRequestData: false,
  includeResponseData: false,
  maxDataSize: 1024,
} as const;
const TELEMETRY = {
  serviceName: 'desk',
  tracingEnabled: false,
  metricsEnabled: false,
  samplingRate: '1',
  insecure: false,
  enablePrometheusMetricsPath: true,
  useLegacyAttributes: false,
} as const;

it('the audit has an event for each run and step, without arguments, results and error messages', async () => {
  const server = await serve({ audit: AUDIT });
  const client = await connect(server);
  await callFlow(client, { c: false });
  await callFlow(client, {}, 'fails');
  await callFlow(client, {}, 'late');
  const events = server.audit.filter(({ type }) => type.startsWith('vmcp_workflow'));
  expect(
    events.map(({ type, outcome, target }) => [type.replace('vmcp_workflow_', ''), target.step_id, outcome]),
  ).toEqual([
    ['started', undefined, 'success'],
    ['step_started', 'a', 'success'],
    ['step_completed', 'a', 'success'],
    ['step_started', 'b', 'success'],
    ['step_completed', 'b', 'success'],
    ['step_started', 'c', 'success'],
    ['step_skipped', 'c', 'success'],
    ['completed', undefined, 'success'],
    ['started', undefined, 'success'],
    ['step_started', 'a', 'success'],
    ['step_failed', 'a', 'failure'],
    ['failed', undefined, 'failure'],
    ['started', undefined, 'success'],
    ['step_started', 'a', 'success'],
    ['step_failed', 'a', 'failure'],
    ['timed_out', undefined, 'failure'],
  ]);
  expect(events[4]).toMatchObject({
    component: 'vmcp-composer',
    subjects: { user: 'anonymous' },
    target: {
      workflow_name: 'flow',
      workflow_id: events[0].target.workflow_id,
      type: 'workflow_step',
      step_type: 'tool',
      tool_name: 'wiki.flaky',
    },
    metadata: { extra: { retry_count: 1, timeout_ms: 300_000 } },
  });
  expect(events[6].metadata.extra.condition).toBe('{{.params.c}}');
  expect(JSON.stringify(events)).not.toMatch(/secret|disk is full/);
});

it('types of events can be excluded, and without audit no events are written', async () => {
  const audit = {
    ...AUDIT,
    excludeEventTypes: ['vmcp_workflow_step_started', 'vmcp_workflow_step_completed', 'vmcp_workflow_step_skipped'],
  };
  const server = await serve({ audit });
  await callFlow(await connect(server), { c: false });
  expect(server.audit.filter(({ type }) => type.startsWith('vmcp_')).map(({ type }) => type)).toEqual([
    'vmcp_workflow_started',
    'vmcp_workflow_completed',
  ]);
  const silent = await serve({});
  await callFlow(await connect(silent), { c: false });
  expect(silent.audit).toEqual([]);
});

it('runs are counted by workflow', async () => {
  const server = await serve({ telemetry: TELEMETRY });
  const client = await connect(server);
  await callFlow(client, { c: false });
  await callFlow(client, {}, 'fails');
  const text = await (await fetch(`${server.origin}/metrics`)).text();
  expect(text).toContain('toolhive_vmcp_workflow_executions_total{workflow_name="flow"} 1');
  expect(text).toContain('toolhive_vmcp_workflow_errors_total{workflow_name="fails"} 1');
  expect(text).toContain('toolhive_vmcp_workflow_duration_seconds_count{workflow_name="flow"} 1');
});

it('a run and its steps are spans in the trace of the request, and calls are children of their step', async () => {
  const { port } = collector.address() as AddressInfo;
  const server = await serve({
    telemetry: { ...TELEMETRY, tracingEnabled: true, endpoint: `http://127.0.0.1:${port}` },
  });
  await callFlow(await connect(server), { c: false });
  const called = members.wiki.asked.filter(({ message }) => message?.params?.name === 'find').at(-1);
  await server.stop();
  const named = (name: string) => spans.find((span) => span.name === name);
  const [run, step] = [named('workflow flow'), named('workflow step a')];
  const request = spans.find(({ spanId }) => spanId === run.parentSpanId);
  expect(request.name).toContain('tools/call');
  expect(step).toMatchObject({ traceId: run.traceId, parentSpanId: run.spanId });
  expect(called?.headers.traceparent).toBe(`00-${step.traceId}-${step.spanId}-01`);
});
