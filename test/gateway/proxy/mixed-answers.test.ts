// Tests lists in responses to other requests, and lists that cannot be filtered: no client gets an item that the filter
// hides.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type AttackedProxy,
  answerPlainly,
  call,
  HEADERS,
  INITIALIZE,
  post,
  proxyBefore,
  type Received,
  startServer,
  stopAll,
  type TestServer,
} from './rig.ts';

let server: TestServer;
let proxy: AttackedProxy;
let respond: (received: Received) => void = answerPlainly;

beforeAll(async () => {
  server = await startServer((received) => respond(received));
  proxy = await proxyBefore(server.port, { tools_filter: ['a'] });
});
afterAll(stopAll);

const TOOLS = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"hidden"}]}}';
const SKILLS = '{"jsonrpc":"2.0","id":1,"result":{"skills":[{"name":"hidden"}]}}';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;
const PROMPTS = { jsonrpc: '2.0', id: 1, method: 'prompts/list' } as const;

function answerWith(status: number, type: string | undefined, body: string): void {
  respond = ({ response }) => response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body);
}

it.each([
  ['of a call, as JSON', call('a'), 'application/json', TOOLS],
  ['of a call, as an event', call('a'), 'text/event-stream', `data: ${TOOLS}\n\n`],
  ['of a list of another kind', PROMPTS, 'application/json', TOOLS.replace('"tools"', '"prompts":[],"tools"')],
  ['of a call, with an escaped key', call('a'), 'application/json', TOOLS.replace('"tools"', '"\\u0074ools"')],
  ['of a call, in another letter case', call('a'), 'application/json', TOOLS.replace('"tools"', '"Tools"')],
  ['of a call, with a long s', call('a'), 'application/json', TOOLS.replace('"tools"', '"tool\u017f"')],
  ['of skills, with a Kelvin sign', call('a'), 'application/json', SKILLS.replace('k', '\u212a')],
  ['of skills, with a dotted i', call('a'), 'application/json', SKILLS.replace('i', '\u0130')],
  ['of skills, with a dotless i', call('a'), 'application/json', SKILLS.replace('i', '\u0131')],
  ['of a ping', { jsonrpc: '2.0', id: 1, method: 'ping' }, 'application/json', TOOLS],
] as const)('a list that comes as the answer %s is filtered or refused', async (_what, request, type, body) => {
  answerWith(200, type, body);
  expect((await post(proxy.url, request)).text).not.toContain('hidden');
});

it('an answer in UTF-16 is refused', async () => {
  const body = Buffer.from(TOOLS, 'utf16le');
  respond = ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  expect((await post(proxy.url, call('a'))).text.replaceAll('\0', '')).not.toContain('hidden');
});

it('an answer without a list passes byte for byte, even if it names a key twice', async () => {
  const body = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":1,"x":2}}';
  answerWith(200, 'application/json', body);
  expect((await post(proxy.url, call('a'))).text).toBe(body);
});

it('a list of skills contains only skills that the caller may read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skep-skills-'));
  const file = join(folder, 'authz.json');
  const policies = [
    'permit(principal, action == Action::"read_resource", resource) when { resource.uri like "skill://a/*" };',
  ];
  await writeFile(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  const strict = await proxyBefore(server.port, { authz_config_path: file });
  const skills = ['skill://a/SKILL.md', 'skill://hidden/SKILL.md'].map((uri) => ({ uri, frontmatter: { name: uri } }));
  answerWith(200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: 1, result: { skills } }));
  const { text } = await post(strict.url, { jsonrpc: '2.0', id: 1, method: 'skills/list' });
  expect([text.includes('skill://a/'), text.includes('hidden')]).toEqual([true, false]);
  await rm(folder, { recursive: true });
});

const LARGE_TEXT = `\u00e9 "tools" `.repeat(300_000);
const LARGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: LARGE_TEXT }], structuredContent: { tools: ['any'] } },
});
const LARGE_LIST = LARGE.replace('"content"', '"tools":[{"name":"hidden"}],"content"');
const LATE_LIST = LARGE.replace('"structuredContent":', '"tools":[{"name":"hidden"}],"structuredContent":');

it.each([
  ['JSON', 'application/json', LARGE],
  ['an event', 'text/event-stream', `id: 7\ndata: ${LARGE}\n\n`],
])('an answer of 4 MB without a list passes byte for byte as %s', async (_what, type, body) => {
  answerWith(200, type, body);
  expect((await post(proxy.url, call('a'))).text === body).toBe(true);
});

it('an answer of 4 MB that begins with a list is refused', async () => {
  answerWith(200, 'application/json', LARGE_LIST);
  const { status, text } = await post(proxy.url, call('a'));
  expect([status, text]).toEqual([502, expect.stringContaining('too large to be filtered')]);
});

it.each([
  ['begins with a list, as an event', 'text/event-stream', `data: ${LARGE_LIST}\n\n`],
  ['ends with a list, as JSON', 'application/json', LATE_LIST],
  ['ends with a list, as an event', 'text/event-stream', `data: ${LATE_LIST}\n\n`],
])('an answer of 4 MB that %s does not pass', async (_what, type, body) => {
  answerWith(200, type, body);
  const text = await post(proxy.url, call('a')).then(
    (answered) => answered.text,
    () => '',
  );
  expect(text).not.toContain('hidden');
});

it.each([
  [201, undefined, LIST, 502],
  [404, 'text/plain', LIST, 502],
  [500, 'text/html', LIST, 502],
  [401, 'text/plain', LIST, 401],
  [201, undefined, call('a'), 502],
  [404, 'text/plain', call('a'), 404],
] as const)('a body of status %i and type %s never passes', async (status, type, request, shown) => {
  answerWith(status, type, TOOLS);
  const answered = await post(proxy.url, request);
  expect([answered.status, answered.text.includes('hidden')]).toEqual([shown, false]);
});

it('an error without a body passes', async () => {
  answerWith(405, undefined, '');
  expect((await post(proxy.url, LIST)).status).toBe(405);
});

it('comments and `retry` of a stream pass', async () => {
  answerWith(200, 'text/event-stream', `: alive\n\nretry: 5\n\ndata: ${TOOLS}\n\n`);
  const { text } = await post(proxy.url, call('a'));
  expect([text.startsWith(': alive\n\nretry: 5\n\n'), text.includes('hidden')]).toEqual([true, false]);
});

it('a request with the id of an abandoned request begins after the end of that request', async () => {
  respond = answerPlainly;
  const session = (await post(proxy.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-session-id': session };
  const waiting = Promise.withResolvers<Received>();
  respond = waiting.resolve;
  const gone = new AbortController();
  const first = fetch(proxy.url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(call('a')),
    signal: gone.signal,
  });
  await waiting.promise;
  respond = answerPlainly;
  const second = post(proxy.url, call('a'), headers);
  gone.abort();
  await expect(first).rejects.toThrow(/abort/);
  expect((await second).status).toBe(200);
});

it('a second request with an id in flight is refused, and the id is free after the response', async () => {
  respond = answerPlainly;
  const session = (await post(proxy.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-session-id': session };
  const waiting = Promise.withResolvers<Received>();
  respond = waiting.resolve;
  const first = post(proxy.url, call('a'), headers);
  const held = await waiting.promise;
  respond = answerPlainly;
  const second = await post(proxy.url, LIST, headers);
  expect([second.status, JSON.parse(second.text).error.code]).toEqual([400, -32600]);
  const elsewhere = (await post(proxy.url, call('a'))).status;
  answerPlainly(held);
  expect([(await first).status, elsewhere, (await post(proxy.url, call('a'), headers)).status]).toEqual([
    200, 200, 200,
  ]);
});
