// Tests changes by webhooks: changed messages arrive byte for byte, and clients cannot avoid a change. After a client
// has disconnected, no further webhook is called.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { answerWith, closeHooks, hook, patchWith, type Respond, startHook } from './hooks.ts';
import { CONFIG, callTool, runProxy, type TestedProxy } from './world.ts';

let backend: TestBackend;
let running: TestedProxy[] = [];
beforeAll(async () => {
  backend = await startBackend();
});
afterEach(async () => {
  closeHooks();
  await Promise.all(running.map((proxy) => proxy.stop()));
  running = [];
});
afterAll(() => backend.close());

async function proxyWith(
  webhooks: RunConfig['webhooks'],
  readConfig?: () => RunConfig,
  more: Partial<RunConfig> = {},
): Promise<TestedProxy> {
  const settings = { target_host: '127.0.0.1', target_port: backend.port, webhooks, ...more };
  const audit_config = { enabled: true, component: 'hooked' };
  const proxy = await runProxy({ ...settings, audit_config }, {}, readConfig);
  running.push(proxy);
  return proxy;
}

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function post({ url }: TestedProxy, body: string): Promise<number> {
  return (await fetch(url, { method: 'POST', headers: TYPES, body })).status;
}

function callOf(args: string): string {
  return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`;
}

/** Returns a response that allows the request and contains the patch as text. */
function patchText(patch: string): Respond {
  return ({ json }, response) =>
    response.end(`{"uid":"${json.uid}","allowed":true,"patch_type":"json_patch","patch":${patch}}`);
}

const ARGS = '/mcp_request/params/arguments';

it('numbers of a patch reach the server as the webhook wrote them', async () => {
  const values = '{"id":9007199254740993,"sum":1.10,"far":1e400}';
  const { url } = await startHook(patchText(`[{"op":"add","path":"${ARGS}/added","value":${values}}]`));
  const proxy = await proxyWith({ mutating: [hook(url)] });
  expect(await post(proxy, callOf('{"a":1}'))).toBe(200);
  expect(backend.calls('tools/call').at(-1)?.body).toContain(`"arguments":{"a":1,"added":${values}}`);
});

it.each([
  ['9007199254740993', '9007199254740992', 503],
  ['9007199254740993', '9007199254740993', 200],
  ['1e400', '1e500', 503],
  ['1.0', '1', 200],
  ['[{"b":2,"a":1}]', '[{"a":1.0,"b":2}]', 200],
])('a patch that tests whether %s is %s gets %i', async (sent, tested, status) => {
  const { url } = await startHook(patchText(`[{"op":"test","path":"${ARGS}/n","value":${tested}}]`));
  const proxy = await proxyWith({ mutating: [hook(url)] });
  expect(await post(proxy, callOf(`{"n":${sent}}`))).toBe(status);
});

it('a message with leading white space is changed too', async () => {
  const { url } = await startHook(patchWith({ op: 'replace', path: `${ARGS}/card`, value: '***' }));
  const proxy = await proxyWith({ mutating: [hook(url)] });
  expect(await post(proxy, ` \n${callOf('{"card":"4111"}')}`)).toBe(200);
  expect(backend.calls('tools/call').at(-1)?.body).toContain('"card":"***"');
});

it('a message to which a patch cannot be applied is refused, even if failures of the webhook are ignored', async () => {
  const { url } = await startHook(patchWith({ op: 'replace', path: `${ARGS}/card`, value: '***' }));
  const proxy = await proxyWith({ mutating: [hook(url, { failure_policy: 'ignore' })] });
  const before = backend.calls('tools/call').length;
  expect(await post(proxy, callOf('{"card":"4111","card":"4111"}'))).toBe(503);
  expect(backend.calls('tools/call').length).toBe(before);
  expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual(['guard: failed']);
});

it('a patch with many operations on a large message is not applied', async () => {
  const { url } = await startHook(
    patchWith(...Array.from({ length: 1000 }, () => ({ op: 'add', path: `${ARGS}/x`, value: 1 }))),
  );
  const proxy = await proxyWith({ mutating: [hook(url)] });
  expect((await callTool(proxy, 'echo', { text: 'x' })).status).toBe(200);
  expect((await callTool(proxy, 'echo', { text: 'x'.repeat(1_000_000) })).status).toBe(503);
  expect(proxy.audit.at(-1).metadata.extra.refusal_detail).toContain('too many operations');
});

it('after a disconnect of the client, the webhook request is aborted and no further webhook is called', async () => {
  let asked: (response: ServerResponse) => void = () => undefined;
  const asking = new Promise<ServerResponse>((resolve) => {
    asked = resolve;
  });
  const slow = await startHook((_sent, response) => asked(response));
  const next = await startHook(answerWith({}));
  const ignored = { failure_policy: 'ignore', timeout_ms: 30_000 } as const;
  const proxy = await proxyWith({ validating: [hook(slow.url, ignored), hook(next.url, { name: 'next' })] });
  const body = callOf('{}');
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  const headers = Object.entries(TYPES).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  const response = await asking;
  const left = once(response, 'close');
  socket.destroy();
  await left;
  await proxy.written('request-cut-off');
  expect(next.sent).toEqual([]);
  expect(proxy.audit.at(-1).metadata.extra.webhooks).toEqual([]);
});

it('policies that change during a webhook request decide about the message', async () => {
  let answer: () => void = () => undefined;
  let config: RunConfig = CONFIG;
  const { url, sent } = await startHook((each, response) => {
    answer = () => answerWith({})(each, response);
  });
  const proxy = await proxyWith({ validating: [hook(url)] }, () => config);
  const waiting = callTool(proxy, 'echo', {});
  await expect.poll(() => sent.length).toBe(1);
  config = {
    ...CONFIG,
    ...{ target_host: '127.0.0.1', target_port: backend.port, webhooks: { validating: [hook(url)] } },
    audit_config: { enabled: true, component: 'hooked' },
    tools_filter: ['fail'],
  };
  await proxy.written('changed settings are in force');
  answer();
  expect((await waiting).json.error.code).toBe(-32602);
});

const digestOf = (body: string) => createHash('sha256').update(body).digest('hex');

it('the audit contains digests of the received message and of the changed message', async () => {
  const { url } = await startHook(patchWith({ op: 'add', path: `${ARGS}/tenant`, value: 'hunter2' }));
  const proxy = await proxyWith({ mutating: [hook(url)] });
  const body = callOf('{"card":"4111"}');
  expect(await post(proxy, body)).toBe(200);
  const sent = backend.calls('tools/call').at(-1)?.body ?? '';
  expect(sent).toContain('hunter2');
  const { extra } = proxy.audit.at(-1).metadata;
  expect(extra.webhook_change).toEqual({
    received: { sha256: digestOf(body), bytes: body.length, name: 'echo' },
    changed: { sha256: digestOf(sent), bytes: sent.length, name: 'echo' },
  });
  expect(JSON.stringify(proxy.audit)).not.toMatch(/4111|hunter2/);
});

it('the audit names both tools if a webhook changes the tool, even for a refused call', async () => {
  const { url } = await startHook(patchWith({ op: 'replace', path: '/mcp_request/params/name', value: 'other' }));
  const proxy = await proxyWith({ mutating: [hook(url)] }, undefined, { tools_filter: ['echo'] });
  await post(proxy, callOf('{}'));
  expect(proxy.audit.at(-1).metadata.extra.refusal).toBe('tool-unknown');
  const { target, metadata } = proxy.audit.at(-1);
  expect(target.name).toBe('other');
  expect([metadata.extra.webhook_change.received.name, metadata.extra.webhook_change.changed.name]).toEqual([
    'echo',
    'other',
  ]);
});

it('the audit of a message that no webhook changed has no digests', async () => {
  const { url } = await startHook(answerWith({}));
  const proxy = await proxyWith({ mutating: [hook(url)] });
  expect(await post(proxy, callOf('{}'))).toBe(200);
  expect(proxy.audit.at(-1).metadata.extra.webhook_change).toBeUndefined();
});
