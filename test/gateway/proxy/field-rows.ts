// Lists the tests of proxy settings with an effect outside of the proxy: listeners, targets, filters and limits. In one
// file, because the rows share functions that observe a proxy.

import type { RunConfig } from '#contracts/run-config.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import { startProxy as startProgram } from '../../harness/mcp-modes.ts';
import type { FieldRow } from './field-row.ts';
import {
  beforeBackend,
  beforeStreams,
  duringCall,
  firstChunk,
  leaving,
  proxied,
  rawStatus,
  STDIO_SERVER,
} from './field-world.ts';
import { callTool, get, runProxy, send } from './world.ts';

const STREAMS_FRONT = (): Partial<RunConfig> => ({ ...beforeStreams(), proxy_mode: 'sse' });

async function openSession(proxy: { readonly url: string }, name = 'story'): Promise<string> {
  const clientInfo = { name, version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { headers, status } = await send(proxy, 'initialize', params);
  return headers.get('mcp-session-id') ?? `refused with ${status}`;
}

async function streamsFacts(proxy: { readonly url: string }, session?: string): Promise<Record<string, unknown>> {
  const given = session ?? (await openSession(proxy));
  const { json, status } = await callTool(proxy, 'facts', {}, { 'mcp-session-id': given });
  return status === 200 && json?.result !== undefined ? JSON.parse(json.result.content[0].text) : { status };
}

const seesFact = (name: string) => proxied(async (proxy) => (await streamsFacts(proxy))[name]);

const LISTENING: readonly FieldRow[] = [
  {
    field: '/schema_version',
    value: 'v1.0.0',
    ignored: 'v0.1.0',
    see: async (config) => 'fault' in readRunConfig(JSON.stringify({ ...config, port: 80, remote_url: 'http://a' })),
    expected: true,
  },
  {
    field: '/name',
    value: 'story',
    ignored: 'small',
    base: (world) => ({ ...beforeBackend(world), metrics: { host: '127.0.0.1', port: 0 } }),
    see: proxied(async (proxy) => {
      await callTool(proxy, 'echo');
      return (await get(`${proxy.metricsUrl}/metrics`)).text.includes('server="story"');
    }),
    expected: true,
  },
  {
    field: '/host',
    value: 'localhost',
    ignored: '127.0.0.1',
    base: beforeBackend,
    see: proxied(async ({ origin }) => [new URL(origin).hostname, (await get(`${origin}/health`)).status]),
    expected: ['localhost', 200],
  },
  {
    field: '/port',
    value: ({ freePort }) => freePort,
    ignored: 0,
    base: beforeBackend,
    see: proxied(async ({ origin }, { freePort }) => Number(new URL(origin).port) === freePort),
    expected: true,
  },
  {
    field: '/allowed_hosts',
    value: ['story.example'],
    base: beforeBackend,
    see: proxied(({ url }) => rawStatus(url, { host: 'story.example' })),
    expected: 200,
  },
  {
    field: '/allowed_origins',
    value: ['https://app.example'],
    base: beforeBackend,
    see: proxied(({ url }) => rawStatus(url, { origin: 'https://app.example' })),
    expected: 200,
  },
  {
    field: '/trust_proxy_headers',
    value: true,
    ignored: false,
    base: beforeBackend,
    see: leaving(
      (headers) => headers['x-forwarded-for'],
      async () => ({ 'x-forwarded-for': '192.0.2.7' }),
    ),
    expected: '192.0.2.7, 127.0.0.1',
  },
  {
    field: '/endpoint_prefix',
    value: '/story',
    base: STREAMS_FRONT,
    see: proxied(async ({ origin }) => (await firstChunk(`${origin}/sse`)).includes('data: /story/messages')),
    expected: true,
  },
  {
    field: '/proxy_mode',
    value: 'sse',
    ignored: 'streamable-http',
    base: beforeStreams,
    see: proxied(async ({ origin }) => (await firstChunk(`${origin}/sse`)).includes('event: endpoint')),
    expected: true,
  },
  {
    field: '/session_key_files',
    value: ({ file }) => [file('session-key', 'k'.repeat(32))],
    base: beforeBackend,
    see: proxied(async (proxy, world) => {
      const keys = [world.file('session-key', 'k'.repeat(32))];
      const replica = await runProxy({ ...beforeBackend(world), session_key_files: keys });
      const session = await openSession(replica);
      await replica.stop();
      return (await callTool(proxy, 'echo', {}, { 'mcp-session-id': session })).status;
    }),
    expected: 200,
  },
  {
    field: '/debug',
    value: true,
    base: beforeBackend,
    see: async ({ port: _port, ...config }) => {
      const program = await startProgram(config);
      await callTool(program, 'echo');
      await program.stop();
      return program.log().includes('"level":"debug"');
    },
    expected: true,
  },
  {
    field: '/metrics/host',
    value: 'localhost',
    ignored: '127.0.0.1',
    base: (world) => ({ ...beforeBackend(world), metrics: { host: '127.0.0.1', port: 0 } }),
    see: proxied(async ({ metricsUrl = '' }) => {
      return [new URL(metricsUrl).hostname, (await get(`${metricsUrl}/metrics`)).status];
    }),
    expected: ['localhost', 200],
  },
  {
    field: '/metrics/port',
    value: ({ freePort }) => freePort,
    ignored: 0,
    base: (world) => ({ ...beforeBackend(world), metrics: { host: '127.0.0.1', port: 0 } }),
    see: proxied(async ({ metricsUrl = '' }, { freePort }) => Number(new URL(metricsUrl).port) === freePort),
    expected: true,
  },
];

const SERVER: readonly FieldRow[] = [
  {
    field: '/transport',
    value: 'sse',
    ignored: 'streamable-http',
    base: beforeBackend,
    see: proxied(async ({ origin }) => (await firstChunk(`${origin}/sse`)).includes('event: endpoint')),
    expected: true,
  },
  {
    field: '/target_host',
    value: 'localhost',
    ignored: '127.0.0.1',
    base: beforeBackend,
    see: leaving((headers, { backend }) => headers.host === `localhost:${backend.port}`),
    expected: true,
  },
  {
    field: '/target_port',
    value: ({ other }) => other.port,
    ignored: ({ backend }) => backend.port,
    base: beforeBackend,
    see: proxied(async (proxy, { other }) => {
      const before = other.calls('tools/call').length;
      await callTool(proxy, 'echo');
      return other.calls('tools/call').length - before;
    }),
    expected: 1,
  },
  {
    field: '/remote_url',
    value: ({ backend }) => `${backend.url}/somewhere?a=b`,
    base: beforeBackend,
    see: proxied(async (proxy, { backend }) => {
      await callTool(proxy, 'echo');
      return backend.calls('tools/call').at(-1)?.path;
    }),
    expected: '/somewhere?a=b',
  },
  {
    field: '/mcp_path',
    value: '/api/mcp',
    base: beforeBackend,
    see: proxied(async (proxy, { backend }) => {
      await callTool(proxy, 'echo');
      return backend.calls('tools/call').at(-1)?.path;
    }),
    expected: '/api/mcp',
  },
  {
    field: '/backend_host_header',
    value: 'preserve',
    base: beforeBackend,
    see: proxied(async (proxy, { backend }) => {
      await callTool(proxy, 'echo');
      return backend.calls('tools/call').at(-1)?.headers.host === new URL(proxy.origin).host;
    }),
    expected: true,
  },
  {
    field: '/backend_ca_file',
    value: ({ authorityFile }) => authorityFile,
    base: ({ tls }) => ({ remote_url: `${tls.url}/mcp` }),
    see: proxied(async (proxy) => (await callTool(proxy, 'echo')).status),
    expected: 200,
  },
  {
    field: '/stdio/sharing',
    value: 'perSession',
    ignored: 'shared',
    base: () => ({ ...beforeStreams(), stdio: { sharing: 'shared', pods: 2 } }),
    see: proxied(async (proxy) => {
      const [one, two] = [await streamsFacts(proxy), await streamsFacts(proxy)];
      return one.pid !== two.pid;
    }),
    expected: true,
  },
  {
    field: '/stdio/pods',
    value: 3,
    ignored: 1,
    base: () => ({ ...beforeStreams(), stdio: { sharing: 'perSession', pods: 1 } }),
    see: proxied(async (proxy) => {
      await openSession(proxy);
      return (await openSession(proxy)).startsWith('refused');
    }),
    expected: false,
  },
  {
    field: '/process/command',
    value: [process.execPath, STDIO_SERVER, 'story'],
    ignored: [process.execPath, STDIO_SERVER],
    base: beforeStreams,
    see: seesFact('args'),
    expected: ['story'],
  },
  {
    field: '/process/env',
    value: { STORY: 'told' },
    base: beforeStreams,
    see: seesFact('story'),
    expected: 'told',
  },
  {
    field: '/process/directory',
    value: ({ folder }) => folder,
    base: beforeStreams,
    see: proxied(async (proxy, { folder }) => (await streamsFacts(proxy)).cwd === folder),
    expected: true,
  },
  ...['namespace', 'pod', 'container'].map(
    (key): FieldRow => ({
      field: `/attach/${key}`,
      value: { namespace: 'default', pod: 'server-0', container: 'mcp' }[key] ?? '',
      ignored: 'another',
      base: () => ({ transport: 'stdio', attach: { namespace: 'default', pod: 'server-0', container: 'mcp' } }),
      see: proxied(async (proxy) => typeof (await streamsFacts(proxy)).pid),
      expected: 'number',
      ignoredWithinMs: 2000,
    }),
  ),
];

const twice = proxied(async (proxy) => {
  await callTool(proxy, 'echo');
  return (await callTool(proxy, 'echo')).status;
});
const secondCall = proxied((proxy, world) => {
  return duringCall(proxy, world, async () => (await callTool(proxy, 'echo')).status);
});
const secondStream = proxied(async (proxy) => {
  const abort = new AbortController();
  const headers = { accept: 'text/event-stream' };
  await fetch(proxy.url, { headers, signal: abort.signal });
  const second = await fetch(proxy.url, { headers, signal: abort.signal });
  abort.abort();
  return second.status;
});

const LIMITS: readonly FieldRow[] = [
  {
    field: '/limits/request_bytes',
    value: 50,
    base: beforeBackend,
    see: proxied(async (proxy) => (await callTool(proxy, 'echo')).status),
    expected: 413,
  },
  {
    field: '/limits/message_bytes',
    value: 100,
    base: (world) => ({ ...beforeBackend(world), tools_filter: ['echo'] }),
    see: proxied(async (proxy) => (await send(proxy, 'tools/list')).status),
    expected: 502,
  },
  { field: '/limits/requests_per_second', value: 1, base: beforeBackend, see: twice, expected: 503 },
  { field: '/limits/concurrent_calls', value: 1, base: beforeBackend, see: secondCall, expected: 503 },
  { field: '/limits/streams', value: 1, base: beforeBackend, see: secondStream, expected: 503 },
  { field: '/limits/per_caller/requests_per_second', value: 1, base: beforeBackend, see: twice, expected: 429 },
  { field: '/limits/per_caller/concurrent_calls', value: 1, base: beforeBackend, see: secondCall, expected: 429 },
  { field: '/limits/per_caller/streams', value: 1, base: beforeBackend, see: secondStream, expected: 429 },
  {
    field: '/rate_limiting',
    value: { shared: { maxTokens: 1, refillPeriod: '1000h' } },
    // This Redis is not reachable, so the replica counts alone.
    base: (world) => ({
      ...beforeBackend(world),
      scaling_config: { session_redis: { address: '127.0.0.1:1', db: 0 } },
    }),
    see: twice,
    expected: 429,
  },
];

const TIMES: readonly FieldRow[] = [
  {
    field: '/timeouts/first_byte_seconds',
    value: 1,
    base: beforeBackend,
    see: proxied(async (proxy) => (await callTool(proxy, 'hang')).status),
    expected: 504,
    ignoredWithinMs: 3000,
  },
  {
    field: '/timeouts/idle_seconds',
    value: 1,
    base: beforeBackend,
    see: proxied((proxy) =>
      callTool(proxy, 'trickle').then(
        () => 'whole',
        () => 'broken',
      ),
    ),
    expected: 'broken',
    ignoredWithinMs: 3000,
  },
  {
    field: '/timeouts/keep_alive_seconds',
    value: 1,
    base: beforeBackend,
    see: proxied(async ({ url }) => (await firstChunk(url, /keep-alive/)).includes('keep-alive')),
    expected: true,
    ignoredWithinMs: 3000,
  },
  {
    field: '/timeouts/shutdown_seconds',
    value: 1,
    base: beforeBackend,
    see: proxied(async (proxy, world) => {
      await duringCall(proxy, world, async () => {
        await proxy.stop();
        return 0;
      });
      return 'stopped';
    }),
    expected: 'stopped',
    ignoredWithinMs: 3000,
  },
];

const listed = (key: string) =>
  proxied(async (proxy) => {
    const { json } = await send(proxy, 'tools/list');
    return json.result.tools[0][key];
  });
const annotated = (key: string, value: string | boolean): FieldRow => ({
  field: `/tools_override/*/annotations/${key}`,
  at: `/tools_override/echo/annotations/${key}`,
  value,
  base: beforeBackend,
  see: proxied(async (proxy) => (await send(proxy, 'tools/list')).json.result.tools[0].annotations?.[key]),
  expected: value,
});

const TOOLS: readonly FieldRow[] = [
  {
    // The lock contains no tools, so every tool is unknown.
    field: '/tools_lock',
    value: { mode: 'enforce', tools: {} },
    base: beforeBackend,
    see: proxied(async (proxy) => (await send(proxy, 'tools/list')).json.result.tools),
    expected: [],
  },
  {
    field: '/tools_filter',
    value: ['echo'],
    base: beforeBackend,
    see: proxied(async (proxy) => (await send(proxy, 'tools/list')).json.result.tools.length),
    expected: 1,
  },
  {
    field: '/tools_override/*/name',
    at: '/tools_override/echo/name',
    value: 'say',
    base: beforeBackend,
    see: listed('name'),
    expected: 'say',
  },
  {
    field: '/tools_override/*/description',
    at: '/tools_override/echo/description',
    value: 'Another one.',
    base: beforeBackend,
    see: listed('description'),
    expected: 'Another one.',
  },
  annotated('title', 'Story'),
  ...['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].map((key) => annotated(key, false)),
  {
    field: '/authz_config_path',
    value: ({ file }) => file('authz.json', JSON.stringify(POLICIES)),
    base: beforeBackend,
    see: proxied(async (proxy) => (await callTool(proxy, 'echo')).status),
    expected: 403,
  },
  groupRow('/authz_groups/group_claim_name', 'name', 'THVGroup'),
  groupRow('/authz_groups/role_claim_name', 'name', 'THVGroup'),
  groupRow('/authz_groups/group_entity_type', 'Team', 'Team', { group_claim_name: 'name' }),
];

/** An anonymous caller's name is a text. If a setting uses this claim for groups, the caller's groups are unknown. */
function groupRow(field: string, value: string, type: string, groups: RunConfig['authz_groups'] = {}): FieldRow {
  const policies = [
    `forbid(principal in ${type}::"guests", action, resource);`,
    'permit(principal, action, resource);',
  ];
  const file = { version: '1.0', type: 'cedarv1', cedar: { policies } };
  return {
    field,
    value,
    base: (world) => ({
      ...beforeBackend(world),
      authz_config_path: world.file(`groups-${type}.json`, JSON.stringify(file)),
      authz_groups: groups,
    }),
    see: proxied(async (proxy) => (await callTool(proxy, 'echo')).status),
    expected: 403,
  };
}

const POLICIES = {
  version: '1.0',
  type: 'cedarv1',
  cedar: { policies: ['permit(principal, action == Action::"list_tools", resource);'] },
};

export const SERVICE_ROWS: readonly FieldRow[] = [...LISTENING, ...SERVER, ...LIMITS, ...TIMES, ...TOOLS];
