// Tests two replicas of a proxy with sessions in memory and a shared Redis: each replica serves all sessions.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { type RunningProxy, startProxy } from '#hosts/proxy/proxy.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { type RedisServer, startRedis } from '../../../harness/redis.ts';

const redis: RedisServer | undefined = await startRedis();
const everything = join(
  import.meta.dirname,
  '../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);
const running: RunningProxy[] = [];

function configOf(keyFile: string, address: string): RunConfig {
  return {
    schema_version: 'v0.1.0',
    name: 'everything',
    namespace: 'agents',
    transport: 'stdio',
    proxy_mode: 'sse',
    host: '127.0.0.1',
    port: 0,
    process: { command: [process.execPath, everything, 'stdio'], env: { PATH: process.env.PATH ?? '' } },
    stdio: { sharing: 'perSession', pods: 4 },
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'everything' },
    session_key_files: [keyFile],
    scaling_config: { session_redis: { address, db: 0 } },
    tools_override: { echo: { name: 'parrot' } },
  };
}

beforeAll(async () => {
  if (redis === undefined) return;
  const keyFile = join(mkdtempSync(join(tmpdir(), 'skep-')), 'key');
  writeFileSync(keyFile, 'k'.repeat(44));
  for (let replica = 0; replica < 2; replica += 1) {
    const logger = pino({ level: 'silent' });
    const config = configOf(keyFile, redis.address);
    running.push(await startProxy({ config, environment: {}, files: createWatchedFiles(), logger }));
  }
});

afterAll(async () => {
  for (const proxy of running) await proxy.stop();
  await redis?.stop();
});

/** Returns a `fetch` that sends requests to the replicas in turn. A GET goes to the replica in its URL. */
function alternating(): typeof fetch {
  let count = 0;
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if ((init?.method ?? 'GET') !== 'GET') {
      count += 1;
      url.host = new URL(running[count % 2]?.url ?? '').host;
    }
    return fetch(url, init);
  };
}

function baseUrl(path: string): URL {
  return new URL(path, running[0]?.url);
}

const transports = {
  'streamable HTTP': () => new StreamableHTTPClientTransport(baseUrl('/mcp'), { fetch: alternating() }),
  SSE: () => new SSEClientTransport(baseUrl('/sse'), { fetch: alternating() }),
};

test.skipIf(redis === undefined).each(Object.entries(transports))(
  'each replica serves a session over %s with filtered lists and renamed tools',
  async (_name, transport) => {
    const client = new Client({ name: 'judge', version: '1.0.0' });
    const progress: number[] = [];
    await client.connect(transport());
    for (let round = 0; round < 4; round += 1) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('parrot');
      expect(tools.map(({ name }) => name)).not.toContain('echo');
      const said = await client.callTool({ name: 'parrot', arguments: { message: `round ${round}` } });
      expect(said.content).toEqual([{ type: 'text', text: `Echo: round ${round}` }]);
    }
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } },
      undefined,
      { onprogress: ({ progress: done }) => void progress.push(done) },
    );
    expect(progress.length).toBeGreaterThan(0);
    await client.close();
  },
);

test.skipIf(redis === undefined)('reports a session as unknown after its replica has ended', async () => {
  const client = new Client({ name: 'judge', version: '1.0.0' });
  const first = new StreamableHTTPClientTransport(baseUrl('/mcp'));
  await client.connect(first);
  const session = first.sessionId ?? '';
  await running.shift()?.stop();
  const response = await fetch(running[0]?.url ?? '', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  expect(response.status).toBe(404);
  expect(await response.text()).toContain('Session not found: its replica no longer runs');
  await client.close();
});
