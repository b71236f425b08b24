// Tests that the gate applies to clients of the transport of 2024-11-05, on their single stream.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { repoPath } from './paths.ts';
import { type AttackedProxy, call, INITIALIZE, openRaw, post, proxyBefore, type RawClient, stopAll } from './rig.ts';

afterAll(stopAll);

const STDIO: Partial<RunConfig> = {
  transport: 'stdio',
  proxy_mode: 'sse',
  process: { command: [process.execPath, repoPath('test/gateway/proxy/chatty-stdio.mjs')], env: {} },
};
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;

async function openStream(proxy: AttackedProxy): Promise<{ readonly stream: RawClient; readonly url: string }> {
  const stream = openRaw(proxy.port);
  stream.send('GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n');
  const text = await stream.until(/data: \/messages\?session_id=[^\s]+/);
  const url = `${proxy.origin}${/data: (\S+)/.exec(text)?.[1] ?? ''}`;
  expect((await post(url, INITIALIZE)).status).toBe(202);
  await stream.until(/"chatty"/);
  expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
  return { stream, url };
}

it('lists on the stream are filtered, and hidden tools are not called', async () => {
  const proxy = await proxyBefore(1, { ...STDIO, tools_filter: ['a'] });
  const { stream, url } = await openStream(proxy);
  expect((await post(url, LIST)).status).toBe(202);
  await stream.until(/"tools":\[\{"name":"a"\}\]/);
  await post(url, call('hidden', {}, 'wanted'));
  await stream.until(/"id":"wanted"/);
  await post(url, call('a', {}, 'last'));
  const text = await stream.until(/called a/);
  expect(text).not.toMatch(/"name":"hidden"|called hidden/);
  stream.socket.destroy();
});

it('policies decide posted messages and filter lists', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skep-sse-'));
  const file = join(directory, 'authz.json');
  const policies = ['permit(principal, action == Action::"call_tool", resource == Tool::"a");'];
  await writeFile(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  const proxy = await proxyBefore(1, { ...STDIO, authz_config_path: file });
  const { stream, url } = await openStream(proxy);
  expect((await post(url, call('hidden'))).status).toBe(403);
  await post(url, LIST);
  await stream.until(/"tools":\[\{"name":"a"\}\]/);
  expect(stream.text()).not.toContain('hidden');
  stream.socket.destroy();
  await rm(directory, { recursive: true });
});

it('a message that is not JSON in UTF-8, or for an unknown stream, is refused', async () => {
  const proxy = await proxyBefore(1, STDIO);
  const { stream, url } = await openStream(proxy);
  expect((await post(url, call('a'), { 'content-type': 'application/json; charset=utf-7' })).status).toBe(415);
  expect((await post(url, call('a'), { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post(url, '[]')).status).toBe(400);
  expect((await post(`${proxy.origin}/messages?session_id=made-up`, call('a'))).status).toBe(404);
  expect((await post(`${proxy.origin}/messages`, call('a'))).status).toBe(404);
  stream.socket.destroy();
  await stream.closed;
  await expect.poll(async () => (await post(url, call('a'))).status).toBe(404);
});
