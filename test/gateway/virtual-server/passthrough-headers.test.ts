// Tests that configured client headers reach backends, and that cached lists of one client are not shown to another
// client.

import { afterEach, expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { clientWith, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(passthroughHeaders: string[] | undefined) {
  const member = await startMember({ name: 'one', tools: [tool('echo')] });
  closing.push(member.close);
  const server = await runVirtual(configOf({ one: member }, { passthroughHeaders }));
  closing.push(server.stop);
  return { member, server };
}

const SENT = {
  'x-api-key': 'ada',
  'x-tenant': 'blue',
  'mcp-tenant': 'blue',
  cookie: 'session=1',
  'user-agent': 'client/1',
};

/** Calls a tool. Returns the headers that the backend received. */
async function sentTo(member: TestMember, server: TestedVirtualServer) {
  await (await connect(server, {}, SENT)).ask('tools/call', { name: 'one_echo', arguments: {} });
  const headers = member.calls('tools/call').at(-1)?.headers ?? {};
  const { 'x-api-key': key, 'x-tenant': tenant, 'mcp-tenant': own, cookie, 'user-agent': agent } = headers;
  return { key, tenant, own, cookie, agent };
}

test('only configured headers and protocol headers reach backends', async () => {
  const { member, server } = await start(['X-Api-Key']);
  expect(await sentTo(member, server)).toEqual({ key: 'ada', agent: 'client/1' });
});

test('without the setting, every header except credentials reaches backends', async () => {
  const { member, server } = await start(undefined);
  expect(await sentTo(member, server)).toEqual({ key: 'ada', tenant: 'blue', own: 'blue', agent: 'client/1' });
});

test('with an empty list, only protocol headers reach backends', async () => {
  const { member, server } = await start([]);
  expect(await sentTo(member, server)).toEqual({ agent: 'client/1' });
});

test('lists are read with the headers of each client, and a session belongs to their values', async () => {
  const { member, server } = await start(['X-Api-Key']);
  const listKeys = () => member.calls('tools/list').map(({ headers }) => headers['x-api-key']);
  const ada = await connect(server, {}, { 'x-api-key': 'ada' });
  await ada.ask('tools/list');
  const bob = await connect(server, {}, { 'x-api-key': 'bob' });
  await bob.ask('tools/list');
  expect(new Set(listKeys().filter((key) => key !== undefined))).toEqual(new Set(['ada', 'bob']));
  const stolen = clientWith(server.url, { ...ada.headers, 'x-api-key': 'bob' });
  expect((await stolen.post({ id: 1, method: 'tools/list' })).status).toBe(404);
});

test('a session accepts changes of headers that belong to single messages', async () => {
  const { server } = await start(['Traceparent', 'Accept', 'Mcp-Name']);
  const { headers } = await connect(server);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const answer = await clientWith(server.url, { ...headers, traceparent }).post({ id: 1, method: 'tools/list' });
  expect(answer.status).toBe(200);
});

test('headers for authentication or for the connection are refused in the setting', async () => {
  const names = ['Authorization', 'cookie', 'Host', 'X-Forwarded-For', 'Mcp-Session-Id', 'Accept-Encoding', 'Expect'];
  for (const name of names) {
    const started = runVirtual(configOf({}, { passthroughHeaders: [name] })).catch((error: unknown) => error);
    const failure = await started;
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'credential-config-invalid' });
  }
});
