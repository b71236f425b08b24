// Lists the tests of settings for telemetry and audit.

import type { RunConfig } from '#contracts/run-config.ts';
import type { Received } from '../../harness/receiver.ts';
import type { FieldRow } from './field-row.ts';
import { beforeBackend, type FieldWorld, proxied } from './field-world.ts';
import { callTool, get } from './world.ts';

type Telemetry = NonNullable<RunConfig['telemetry_config']>;

const sending =
  (more: Partial<Telemetry> = {}) =>
  (world: FieldWorld): Partial<RunConfig> => ({
    ...beforeBackend(world),
    telemetry_config: {
      service_name: 'small',
      endpoint: world.collector.url,
      insecure: false,
      metrics_enabled: false,
      tracing_enabled: true,
      sampling_rate: '1',
      use_legacy_attributes: false,
      enable_prometheus_metrics_path: false,
      ...more,
    },
  });

/** Observes the data that the collector receives about one call, until the proxy has stopped. */
const sent = (pick: (received: readonly Received[]) => unknown) =>
  proxied(async (proxy, { collector }) => {
    const before = collector.received.length;
    await callTool(proxy, 'echo');
    await proxy.stop();
    return pick(collector.received.slice(before));
  });

const contains = (text: string) => sent((received) => received.some(({ body }) => body.includes(text)));
const reached = (path: string) => sent((received) => received.some((each) => each.path === path));

const telemetry = (key: keyof Telemetry, rest: Omit<FieldRow, 'field' | 'base'> & Partial<FieldRow>): FieldRow => ({
  field: `/telemetry_config/${key}`,
  base: sending(),
  ...rest,
});

export const TELEMETRY_ROWS: readonly FieldRow[] = [
  {
    field: '/namespace',
    value: 'story-namespace',
    ignored: 'tests',
    base: sending(),
    see: contains('"story-namespace"'),
    expected: true,
  },
  telemetry('service_name', {
    value: 'story-service',
    ignored: 'small',
    see: contains('"story-service"'),
    expected: true,
  }),
  telemetry('endpoint', {
    value: ({ collector }) => `${collector.url}/below`,
    see: reached('/below/v1/traces'),
    expected: true,
  }),
  telemetry('headers', {
    value: { 'x-story': 'told' },
    see: sent((received) => received.map(({ headers }) => headers['x-story'])),
    expected: ['told'],
  }),
  telemetry('headers_from_file', {
    value: ({ file }) => ({ 'x-story': file('collector-header', 'told in a file\n') }),
    see: sent((received) => received.map(({ headers }) => headers['x-story'])),
    expected: ['told in a file'],
  }),
  telemetry('headers_from_variable', {
    value: { 'x-story': 'STORY_HEADER' },
    environment: () => ({ STORY_HEADER: 'told in a variable' }),
    see: sent((received) => received.map(({ headers }) => headers['x-story'])),
    expected: ['told in a variable'],
  }),
  telemetry('ca_cert_path', {
    value: ({ authorityFile }) => authorityFile,
    base: (world) => sending({ endpoint: world.collectorOverTls.url })(world),
    see: proxied(async (proxy, { collectorOverTls }) => {
      collectorOverTls.forget();
      await callTool(proxy, 'echo');
      await proxy.stop();
      return collectorOverTls.received.map(({ path }) => path);
    }),
    expected: ['/v1/traces'],
  }),
  telemetry('insecure', {
    value: true,
    ignored: false,
    base: (world) => sending({ endpoint: new URL(world.collector.url).host })(world),
    see: reached('/v1/traces'),
    expected: true,
  }),
  telemetry('metrics_enabled', { value: true, ignored: false, see: reached('/v1/metrics'), expected: true }),
  telemetry('tracing_enabled', { value: true, ignored: false, see: reached('/v1/traces'), expected: true }),
  telemetry('sampling_rate', { value: '0', ignored: '1', see: reached('/v1/traces'), expected: false }),
  telemetry('use_legacy_attributes', {
    value: true,
    ignored: false,
    see: contains('"http.status_code"'),
    expected: true,
  }),
  telemetry('enable_prometheus_metrics_path', {
    value: true,
    ignored: false,
    see: proxied(async ({ origin }) => (await get(`${origin}/metrics`, { accept: 'text/plain' })).status),
    expected: 200,
  }),
  telemetry('custom_attributes', { value: { team: 'story-team' }, see: contains('"story-team"'), expected: true }),
  telemetry('environment_variables', {
    value: ['STORY_REGION'],
    environment: () => ({ STORY_REGION: 'story-north' }),
    see: contains('"environment.STORY_REGION"'),
    expected: true,
  }),
  {
    field: '/audit_config/enabled',
    value: true,
    ignored: false,
    base: beforeBackend,
    see: proxied(async (proxy) => {
      await callTool(proxy, 'echo');
      return proxy.audit.map(({ type }) => type);
    }),
    expected: ['mcp_tool_call'],
  },
  {
    field: '/audit_config/component',
    value: 'story',
    ignored: 'small',
    base: (world) => ({ ...beforeBackend(world), audit_config: { enabled: true, component: 'small' } }),
    see: proxied(async (proxy) => {
      await callTool(proxy, 'echo');
      return proxy.audit.map(({ component }) => component);
    }),
    expected: ['story'],
  },
];
