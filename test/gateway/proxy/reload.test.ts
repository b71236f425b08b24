// Tests configuration changes at run time: sessions and streams stay open, and each reloadable setting takes effect.

import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { RUN_CONFIG_KEYS } from '#contracts/run-config-keys.ts';
import type { Environment } from '#std/environment.ts';
import type { Json } from '#std/json.ts';
import { type FieldRow, withSetting } from './field-row.ts';
import { SERVICE_ROWS } from './field-rows.ts';
import { CALLER_ROWS } from './field-rows-callers.ts';
import { TELEMETRY_ROWS } from './field-rows-telemetry.ts';
import { beforeBackend, beforeStreams, type FieldWorld, startFieldWorld } from './field-world.ts';
import { answerPlainly, startServer, stopAll } from './rig.ts';
import { CONFIG, callTool, runProxy, type TestedProxy } from './world.ts';

let world: FieldWorld;
const running: TestedProxy[] = [];
beforeAll(async () => {
  world = await startFieldWorld();
});
afterAll(async () => {
  await Promise.all(running.map((proxy) => proxy.stop()));
  await world.close();
});

interface Changing {
  readonly proxy: TestedProxy;
  /** Changes settings. Resolves when the log contains `until`, by default the message of a successful change. */
  change(settings: Partial<RunConfig>, until?: string): Promise<void>;
}

async function runChanging(settings: Partial<RunConfig>, environment: Environment = {}): Promise<Changing> {
  let config: RunConfig = { ...CONFIG, ...settings };
  const proxy = await runProxy(config, environment, () => config);
  running.push(proxy);
  return {
    proxy,
    async change(next, until = 'changed settings are in force') {
      const written = proxy.written(until);
      config = { ...config, ...next };
      await written;
    },
  };
}

const REQUIRED: Readonly<Record<string, Json>> = {
  trust_proxy_headers: false,
  audit_config: CONFIG.audit_config,
};

const AGAIN = new Map(Object.entries(RUN_CONFIG_KEYS).filter(([, reading]) => reading === 'again'));

/** Returns the first row of each reloadable key. */
function firstRows(): readonly (readonly [string, FieldRow])[] {
  const rows = new Map<string, FieldRow>();
  for (const row of [...SERVICE_ROWS, ...CALLER_ROWS, ...TELEMETRY_ROWS]) {
    const key = (row.at ?? row.field).split('/')[1] ?? '';
    // The test of `debug` needs a separate process.
    if (AGAIN.has(key) && key !== 'debug' && !rows.has(key)) rows.set(key, row);
  }
  return [...rows];
}

test('every reloadable key has a row', () => {
  expect([...firstRows().map(([key]) => key), 'debug'].toSorted()).toEqual([...AGAIN.keys()].toSorted());
});

describe.each(firstRows())('%s', (key, row) => {
  test('has its effect after a change of the file', async () => {
    const value = typeof row.value === 'function' ? row.value(world) : row.value;
    const config = withSetting({ ...CONFIG, ...row.base?.(world) }, row.at ?? row.field, value) as RunConfig;
    let started = 0;
    const start: typeof runProxy = async (whole, environment) => {
      started += 1;
      const { proxy, change } = await runChanging({ ...whole, [key]: REQUIRED[key] }, environment);
      await change(whole);
      return proxy;
    };
    expect(await row.see(config, world, row.environment?.(world) ?? {}, start)).toEqual(row.expected);
    expect(started).toBe(1);
  });
});

test('debug has its effect after a change of the file', async () => {
  const { proxy, change } = await runChanging(beforeBackend(world));
  await callTool(proxy, 'echo');
  expect(proxy.log.filter(({ level }) => level === 'debug')).toEqual([]);
  await change({ debug: true });
  await callTool(proxy, 'echo');
  expect(proxy.log.filter(({ level }) => level === 'debug')).not.toEqual([]);
});

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

test('a connected client is notified of a renamed tool, and calls it by its new name', async () => {
  const process = { command: [globalThis.process.execPath, EVERYTHING, 'stdio'], env: {} };
  const { proxy, change } = await runChanging({ transport: 'stdio', process });
  const client = new Client({ name: 'connected', version: '1' });
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(proxy.url)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('echo');
  await change({ tools_override: { echo: { name: 'repeat' } } });
  await changed;
  const { tools: renamed } = await client.listTools();
  expect(renamed.map(({ name }) => name)).toContain('repeat');
  expect(renamed.map(({ name }) => name)).not.toContain('echo');
  const { content } = await client.callTool({ name: 'repeat', arguments: { message: 'hello' } });
  expect(content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
  await client.close();
});

/** Reads data lines up to the first match. Calls `arrived` with each line. */
async function readData(
  response: Response,
  until: RegExp,
  arrived: (line: string) => void,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const chunk of response.body ?? []) {
    const text = Buffer.from(chunk).toString();
    for (const line of text.split('\n').filter((each) => each.startsWith('data:'))) {
      lines.push(line);
      arrived(line);
    }
    if (lines.some((line) => until.test(line))) break;
  }
  return lines;
}

test('a client of 2026-07-28 is notified with the id of its subscription, after its acknowledgement', async () => {
  const { proxy, change } = await runChanging(beforeStreams());
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'listener', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { _meta, notifications: { toolsListChanged: true } };
  const response = await fetch(proxy.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'listening', method: 'subscriptions/listen', params }),
  });
  const lines = await readData(response, /list_changed/, (line) => {
    if (line.includes('acknowledged')) void change({ tools_filter: ['facts'] });
  });
  expect(lines[0]).toContain('notifications/subscriptions/acknowledged');
  expect(lines[1]).toContain('notifications/tools/list_changed');
  expect(lines[1]).toContain('"io.modelcontextprotocol/subscriptionId":"listening"');
});

test('a client of the transport of 2024-11-05 is notified', async () => {
  const { proxy, change } = await runChanging({ ...beforeStreams(), proxy_mode: 'sse' });
  const response = await fetch(`${proxy.origin}/sse`, { headers: { accept: 'text/event-stream' } });
  const lines = await readData(response, /list_changed/, (line) => {
    if (line.includes('/messages')) void change({ tools_filter: ['facts'] });
  });
  expect(lines.at(-1)).toContain('notifications/tools/list_changed');
});

test('a stream that opened before the change is filtered by the current policies', async () => {
  const policies = (text: string) =>
    JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: [text], entities_json: '[]' } });
  const path = world.file('live-policies.json', policies('permit(principal, action, resource);'));
  const answer = { jsonrpc: '2.0', id: 7, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } };
  const event = `data: ${JSON.stringify(answer)}\n\n`;
  let stream: ServerResponse | undefined;
  const server = await startServer((received) => {
    answerPlainly(received);
    if (received.request.method === 'GET') stream = received.response;
    stream?.write(event);
  });
  const target = { target_host: '127.0.0.1', target_port: server.port };
  const { proxy, change } = await runChanging({ ...target, authz_config_path: path });
  const response = await fetch(proxy.url, { headers: { accept: 'text/event-stream' } });
  const lines = await readData(response, /"tools":\[\]/, (line) => {
    if (line.includes('echo')) {
      world.file('live-policies.json', policies('forbid(principal, action, resource);'));
      void change({}, 'changed rules are in force').then(() => stream?.write(event));
    }
  });
  expect(lines[0]).toContain('"name":"echo"');
  expect(lines.at(-1)).not.toContain('echo');
  await stopAll();
});

test('invalid settings are reported, and the last valid settings stay in use', async () => {
  const { proxy, change } = await runChanging({ ...beforeBackend(world), tools_filter: ['echo'] });
  await change({ authz_config_path: `${world.folder}/missing.json` }, 'the last good settings stay in force');
  expect((await callTool(proxy, 'echo')).status).toBe(200);
  await change({ authz_config_path: undefined, tools_filter: ['other'] });
  expect((await callTool(proxy, 'echo')).json.error).toBeDefined();
});

test('a changed setting that requires a restart is reported by name', async () => {
  const { proxy, change } = await runChanging(beforeBackend(world));
  await change({ target_port: 9 }, 'target_port of the configuration is read only at the start: restart the process');
  expect(proxy.log.some(({ code }) => code === 'proxy-restart-needed')).toBe(true);
  expect((await callTool(proxy, 'echo')).status).toBe(200);
});
