// What the console shows of pods: calls per minute out of counters, Events of the right objects, and logs without secrets.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { eventsAbout } from '#reconciler/run/fleet-state/pods/events.ts';
import { readLogs } from '#reconciler/run/fleet-state/pods/logs.ts';
import { lineMask, secretsOfPod, secretTexts } from '#reconciler/run/fleet-state/pods/mask-log.ts';
import { metricLines } from '#reconciler/run/fleet-state/pods/metric-text.ts';
import { readReadings } from '#reconciler/run/fleet-state/pods/readings.ts';
import { readSample, trafficOf } from '#reconciler/run/fleet-state/pods/traffic.ts';
import type { KnownResource } from '#reconciler/run/fleet-state/resource-detail.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import type { Json } from '#std/json.ts';

function metricsOf(counts: { calls: number; errors: number; refused: number }, startedAt = 1000): string {
  const labels = 'mcp_method_name="tools/call",gen_ai_tool_name="find"';
  return [
    '# TYPE mcp_server_operation_duration_seconds histogram',
    `mcp_server_operation_duration_seconds_bucket{${labels},error_type="",le="1"} 3`,
    `mcp_server_operation_duration_seconds_count{${labels},error_type=""} ${counts.calls}`,
    `mcp_server_operation_duration_seconds_sum{${labels},error_type=""} ${counts.calls / 10}`,
    `mcp_server_operation_duration_seconds_count{${labels},error_type="tool_error"} ${counts.errors}`,
    `mcp_server_operation_duration_seconds_sum{${labels},error_type="tool_error"} 0`,
    `skep_proxy_refusals_total{server="wiki",reason="policy-denied"} ${counts.refused}`,
    'toolhive_mcp_active_connections{server="wiki",transport="stdio",connection_type="sse"} 4',
    `process_start_time_seconds ${startedAt}`,
    '',
  ].join('\n');
}

function sampled(at: number, ...texts: readonly string[]) {
  const samples = texts.flatMap((text, index) => readSample(`pod-${index}`, text) ?? []);
  return { at, samples };
}

test('calls and errors a minute are the growth of the counters since an earlier reading', () => {
  const before = sampled(2_000_000, metricsOf({ calls: 100, errors: 4, refused: 1 }));
  const now = sampled(2_060_000, metricsOf({ calls: 160, errors: 10, refused: 3 }));
  expect(trafficOf(now, before)).toMatchObject({
    ...{ seconds: 60, sinceStart: false, pods: 1, open: 4 },
    calls: { total: 170, perMinute: 66 },
    errors: { total: 10, perMinute: 6 },
    tools: [{ name: 'find', total: 170, perMinute: 66, errors: 10, meanMs: 94 }],
    errorTypes: [{ type: 'tool_error', total: 10, perMinute: 6 }],
    refusals: [{ reason: 'policy-denied', total: 3, perMinute: 2 }],
  });
});

test('without an earlier reading they are averages since the start, and a pod that started again counts from 0', () => {
  const first = sampled(1_120_000, metricsOf({ calls: 10, errors: 0, refused: 0 }));
  expect(trafficOf(first, undefined)).toMatchObject({ sinceStart: true, seconds: 120, calls: { perMinute: 5 } });
  const restarted = sampled(1_180_000, metricsOf({ calls: 3, errors: 0, refused: 0 }, 1170));
  expect(trafficOf(restarted, first)).toMatchObject({ calls: { total: 3, perMinute: 3 } });
});

test('an answer that is not of a proxy is no sample', () => {
  expect(readSample('pod', '<html>not found</html>')).toBeUndefined();
});

test('labels may hold quotes, line ends and braces', () => {
  const [line] = metricLines('a_total{x="say \\"hi\\"\\n{}"} 2\n', new Set(['a_total']));
  expect(line).toEqual({ name: 'a_total', labels: { x: 'say "hi"\n{}' }, value: 2 });
});

const event = (kind: string, name: string, more: object = {}) =>
  ({ regarding: { kind, name }, reason: 'Failed', type: 'Warning', note: 'no', ...more }) as Record<string, Json>;

test('Events are of the resource, its objects, their pods and ReplicaSets, latest first', () => {
  const about = [
    { kind: 'MCPServer', name: 'wiki' },
    { kind: 'Deployment', name: 'wiki' },
    { kind: 'Pod', name: 'wiki-1-a' },
  ];
  const events = [
    event('MCPServer', 'wiki', { eventTime: '2026-01-01T00:00:01Z' }),
    event('MCPServer', 'wiki-two'),
    event('ReplicaSet', 'wiki-1', { series: { count: 9, lastObservedTime: '2026-01-01T00:00:03Z' } }),
    event('ReplicaSet', 'wiki-two-1'),
    event('Pod', 'wiki-1-a', { deprecatedCount: 4, deprecatedLastTimestamp: '2026-01-01T00:00:02Z' }),
  ];
  expect(eventsAbout(about, events).map(({ object, count }) => [object, count])).toEqual([
    ['ReplicaSet/wiki-1', 9],
    ['Pod/wiki-1-a', 4],
    ['MCPServer/wiki', 1],
  ]);
});

function secret(data: Readonly<Record<string, string>>): KubeObject {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: Object.fromEntries(encoded) };
}

const SECRET = secret({
  key: 'hunter2!',
  env: 'USER=ann\nTOKEN = "pa/ss wörd"\n',
  json: '{"client":{"secret":"deep-secret"}}',
  short: 'yes',
});

const LINES: readonly { readonly line: string; readonly shows: string; readonly reason: string }[] = [
  { line: 'key hunter2! used', shows: 'key *** used', reason: 'a value' },
  { line: `key ${Buffer.from('hunter2!').toString('base64')}`, shows: 'key ***', reason: 'a value in base64' },
  { line: 'q=pa%2Fss%20w%C3%B6rd', shows: 'q=***', reason: 'a value in a URL' },
  { line: 'the deep-secret', shows: 'the ***', reason: 'a value within JSON' },
  { line: 'yes it works', shows: 'yes it works', reason: 'a short value is part of many words' },
  { line: 'authorization: Bearer abcdefghij', shows: 'authorization: Bearer ***', reason: 'a token of a caller' },
  { line: 'got eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x', shows: 'got ***', reason: 'a JWT' },
  { line: 'https://ann:pw@git.example.com/x', shows: 'https://***@git.example.com/x', reason: 'a password in a URL' },
  { line: '{"password":"other-one","n":1}', shows: '{"password":"***","n":1}', reason: 'a member of that name' },
];

test.each(LINES)('a line of a log does not show $reason', ({ line, shows }) => {
  const mask = lineMask(new Set(secretTexts(SECRET)));
  expect(mask(line)).toBe(shows);
});

test.each([
  { line: ' '.repeat(100_000), reason: 'spaces' },
  { line: `token:${' '.repeat(100_000)}`, reason: 'spaces after a name' },
  { line: '-eyJaaaaaaaa'.repeat(20_000), reason: 'beginnings of a JWT' },
])('a long line of $reason does not stop the process', ({ line }) => {
  const began = performance.now();
  expect(lineMask(new Set())(line)).toBe(line);
  expect(performance.now() - began).toBeLessThan(1000);
});

test('a private key is hidden as a whole, line by line', () => {
  const mask = lineMask(new Set());
  const lines = ['a', '-----BEGIN RSA PRIVATE KEY-----', 'MIIEow', '-----END RSA PRIVATE KEY-----', 'b'];
  expect(lines.map(mask)).toEqual(['a', '***', '***', '***', 'b']);
});

test('a pod names its Secrets in variables, volumes and projections; other stores of secrets make its log unknown', () => {
  const container = {
    name: 'c',
    env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'one', key: 'k' } } }],
    envFrom: [{ secretRef: { name: 'two' } }],
  };
  const volumes: Record<string, Json>[] = [
    { name: 'v', secret: { secretName: 'three' } },
    { name: 'w', projected: { sources: [{ secret: { name: 'four' } }] } },
  ];
  const pod = (more: Record<string, Json>[]): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
    spec: { containers: [container], volumes: [...volumes, ...more] },
  });
  expect([...(secretsOfPod(pod([])) ?? [])].toSorted()).toEqual(['four', 'one', 'three', 'two']);
  const csi = { name: 'x', csi: { driver: 'secrets-store.csi.k8s.io' } };
  expect(secretsOfPod(pod([csi]))).toBeUndefined();
});

/** A cluster with one pod of a virtual server, and with these Secrets. */
function clusterWith(secrets: Readonly<Record<string, KubeObject>>) {
  const labels = { app: 'desk' };
  const env = [{ name: 'VMCP_SESSION_HMAC_SECRET', valueFrom: { secretKeyRef: { name: 'desk-key', key: 'hmac' } } }];
  const containers = [{ name: 'vmcp', env, ports: [{ name: 'http', containerPort: 4483 }] }];
  const pod: KubeObject = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'desk-1', namespace: 'docs', labels } },
    spec: { containers },
  };
  const object: KubeObject = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'desk', namespace: 'docs' } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
  const type = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, verbs: ['list'] };
  return {
    cluster: {
      resources: async () => [type],
      list: async () => [pod],
      get: async ({ name }: { readonly name: string }) => secrets[name],
    },
    desired: [{ object }],
  };
}

test('a log is not shown if a Secret of its pod does not exist, because the log may have its former value', async () => {
  const reads = { log: async () => 'the key is hunter2!\n' };
  const { cluster, desired } = clusterWith({ 'desk-key': secret({ hmac: 'hunter2!' }) });
  const known = { desired } as unknown as KnownResource;
  expect((await readLogs(cluster as unknown as Cluster, reads, known)).logs).toMatchObject([
    { pod: 'desk-1', lines: ['the key is ***'] },
  ]);
  const { cluster: without } = clusterWith({});
  expect((await readLogs(without as unknown as Cluster, reads, known)).logs).toMatchObject([
    { lines: [], unread: 'Secret desk-key does not exist, and its former values could be in the log' },
  ]);
});

test('documents of a virtual server are requested only with a token of its own key', async () => {
  const sent: unknown[] = [];
  const reads = {
    async request(_pod: object, _place: object, { headers }: { readonly headers?: object }) {
      sent.push(headers);
      return '{}';
    },
  };
  const { cluster, desired } = clusterWith({ 'desk-key': secret({ other: 'x'.repeat(32) }) });
  const read = await readReadings(cluster as unknown as Cluster, reads, { desired } as unknown as KnownResource);
  expect(sent).toEqual([]);
  expect(read.virtualServerUnread).toBe(
    'Secret docs/desk-key has no value under hmac, from which the token is derived',
  );
});

const WORKLOAD = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'wiki', namespace: 'docs' },
  spec: { selector: { matchLabels: { app: 'wiki' } }, template: { metadata: { labels: { app: 'wiki' } } } },
} as unknown as KubeObject;

/** Reads the log of a pod whose only container has this environment, in a cluster without Secrets. */
async function logOf(text: string, env: readonly Json[]) {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'wiki-0', namespace: 'docs' },
    spec: { containers: [{ name: 'mcp', env }] },
  } as unknown as KubeObject;
  const cluster = {
    get: async () => undefined,
    list: async () => [pod],
    resources: async () => [{ kind: 'Pod', apiVersion: 'v1' }],
  };
  const known = { desired: [{ object: WORKLOAD }] };
  const { logs } = await readLogs(cluster as never, { log: async () => text }, known as never);
  return logs[0];
}

test('the end of a private key that begins before the shown lines is hidden', async () => {
  const text = 'MIIEvQIBADAN\nBgkqhkiG9w0B\n-----END PRIVATE KEY-----\nstarted\n';
  expect((await logOf(text, []))?.lines).toEqual(['***', '***', '***', 'started']);
});
