// Tests that webhooks and rate limits apply to the messages of clients of the transport of 2024-11-05.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { answerWith, closeHooks, hook, patchWith, startHook } from './hooks.ts';
import { repoPath } from './paths.ts';
import { type AttackedProxy, call, INITIALIZE, openRaw, post, proxyBefore, type RawClient, stopAll } from './rig.ts';

const redis: RedisServer | undefined = await startRedis();
afterAll(async () => {
  closeHooks();
  await stopAll();
  await redis?.stop();
});

const keyFile = join(mkdtempSync(join(tmpdir(), 'skep-sse-')), 'key');
writeFileSync(keyFile, 'k'.repeat(32));

const STDIO: Partial<RunConfig> = {
  transport: 'stdio',
  proxy_mode: 'sse',
  process: { command: [process.execPath, repoPath('test/gateway/proxy/chatty-stdio.mjs')], env: {} },
};

async function openStream({
  port,
  origin,
}: AttackedProxy): Promise<{ readonly stream: RawClient; readonly url: string }> {
  const stream = openRaw(port);
  stream.send('GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n');
  const text = await stream.until(/data: \/messages\?session_id=[^\s]+/);
  return { stream, url: `${origin}${/data: (\S+)/.exec(text)?.[1] ?? ''}` };
}

it('a webhook gets and changes each posted message, including initialize and notifications', async () => {
  const { url: hookUrl, sent } = await startHook((each, response) => {
    const { method } = each.json.mcp_request;
    const respond =
      method === 'tools/call'
        ? patchWith({ op: 'replace', path: '/mcp_request/params/name', value: 'a' })
        : answerWith({});
    respond(each, response);
  });
  const proxy = await proxyBefore(1, { ...STDIO, webhooks: { mutating: [hook(hookUrl)] } });
  const { stream, url } = await openStream(proxy);
  await post(url, INITIALIZE);
  await stream.until(/"chatty"/);
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
  await post(url, call('hidden'));
  expect(await stream.until(/called a/)).not.toContain('called hidden');
  expect(sent.map(({ json }) => json.mcp_request.method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
  ]);
  stream.socket.destroy();
});

it('a message that a webhook denies does not reach the server', async () => {
  const { url: hookUrl } = await startHook((each, response) =>
    answerWith({ allowed: each.json.mcp_request.method !== 'tools/call', reason: 'pii' })(each, response),
  );
  const proxy = await proxyBefore(1, { ...STDIO, webhooks: { validating: [hook(hookUrl)] } });
  const { stream, url } = await openStream(proxy);
  await post(url, INITIALIZE);
  await stream.until(/"chatty"/);
  expect((await post(url, call('a'))).status).toBe(403);
  await post(url, { jsonrpc: '2.0', id: 'last', method: 'tools/list' });
  await stream.until(/"id":"last"/);
  expect(stream.text()).not.toMatch(/called a|pii/);
  stream.socket.destroy();
});

it.skipIf(redis === undefined)('rate limits count calls, and no other messages', async () => {
  const proxy = await proxyBefore(1, {
    ...STDIO,
    name: 'limited-sse',
    scaling_config: { session_redis: { address: redis?.address ?? '', db: 0 } },
    rate_limiting: { shared: { maxTokens: 1, refillPeriod: '1000h' } },
    session_key_files: [keyFile],
  });
  const { stream, url } = await openStream(proxy);
  await post(url, INITIALIZE);
  await stream.until(/"chatty"/);
  expect((await post(url, { jsonrpc: '2.0', id: 3, method: 'tools/list' })).status).toBe(202);
  expect((await post(url, call('a'))).status).toBe(202);
  await stream.until(/called a/);
  expect((await post(url, call('a'))).status).toBe(429);
  stream.socket.destroy();
});
