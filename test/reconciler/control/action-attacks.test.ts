// Requests for actions that must not act: previews that are not booleans, actions that wait while their login or their
// request ends, requests of other sites. And each refusal and fault is recorded.

import { EventEmitter, once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import type { Actions, Login } from '#reconciler/control/ports.ts';
import { eventually } from '../../harness/cluster.ts';
import { controlApp } from './control-app.ts';
import { type FakeActions, fakeActions } from './fake-actions.ts';

const HASH = '3f1c0b5e9a7d2468';
const URL_OF_CONSOLE = 'https://skep.example.com';
const TOKEN = { authorization: 'Bearer acts' };

const LOGIN: Login = {
  url: URL_OF_CONSOLE,
  host: 'login.example.com',
  lifetimeMs: 60_000,
  begin: async ({ state }) => `https://login.example.com/?state=${state}`,
  finish: async () => ({ name: 'olga', role: 'operator' }),
};

interface Rig {
  /** Emits `end` when a connection has ended. */
  readonly connections: EventEmitter;
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

const opened: Rig[] = [];

afterEach(async () => {
  for (const rig of opened.splice(0)) await rig.close();
});

async function openRig(actions: Actions): Promise<Rig> {
  const app = controlApp({ actions, login: LOGIN, operatorTokens: { values: async () => ['acts'] } });
  const connections = new EventEmitter();
  app.server.on('connection', (socket) => socket.on('close', () => connections.emit('end')));
  const rig = { connections, url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
  opened.push(rig);
  return rig;
}

interface Sent {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  { url }: Rig,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Sent> {
  const json = { 'content-type': 'application/json', ...headers };
  const init = { method: 'POST', headers: json, body: JSON.stringify(body), signal: signal ?? null };
  const response = await fetch(url + path, init);
  return { status: response.status, body: (await response.json()) as Sent['body'] };
}

/** Logs in, and returns the headers that the console sends. */
async function logIn({ url }: Rig): Promise<Readonly<Record<string, string>>> {
  const first = await fetch(`${url}/login`, { redirect: 'manual' });
  const visit = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const state = new URL(first.headers.get('location') ?? '').searchParams.get('state');
  const back = await fetch(`${url}/login/callback?code=c&state=${state}`, {
    headers: { cookie: visit },
    redirect: 'manual',
  });
  const cookie = back.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
  const { csrf } = (await (await fetch(`${url}/fleet/session`, { headers: { cookie } })).json()) as { csrf: string };
  return { cookie, origin: URL_OF_CONSOLE, 'sec-fetch-site': 'same-origin', 'x-skep-csrf': csrf };
}

/** Actions that are prepared only after `go`. */
function waitingActions(): { readonly actions: FakeActions; readonly waits: () => number; readonly go: () => void } {
  const actions = fakeActions();
  const { promise: turn, resolve: go } = Promise.withResolvers<void>();
  let waits = 0;
  const prepare: Actions['prepare'] = async (name, input, use) => {
    waits += 1;
    await turn;
    return actions.prepare(name, input, use);
  };
  return { actions: { ...actions, prepare }, waits: () => waits, go };
}

test.each([['true'], [1], [null], [{}], [[]]])('a preview that is %j does not act', async (preview) => {
  const actions = fakeActions();
  const rig = await openRig(actions);
  const { status, body } = await post(rig, '/fleet/actions/suspend', { preview }, TOKEN);
  expect([status, body.code, actions.done]).toEqual([400, 'control-request-invalid', []]);
});

test.each(['{"__proto__": {"hash": "a"}}', '{"constructor": {}}', '[]', 'null', '"a"', ''])(
  'the body %s does not act',
  async (text) => {
    const actions = fakeActions();
    const rig = await openRig(actions);
    const headers = { ...TOKEN, 'content-type': 'application/json' };
    const { status } = await fetch(`${rig.url}/fleet/actions/approve`, { method: 'POST', headers, body: text });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(actions.done).toEqual([]);
  },
);

test('an action that waits for its turn is not carried out after the logout', async () => {
  const { actions, waits, go } = waitingActions();
  const rig = await openRig(actions);
  const headers = await logIn(rig);
  const acting = post(rig, '/fleet/actions/suspend', {}, headers);
  await eventually(
    async () => waits(),
    (count) => count === 1,
  );
  expect((await post(rig, '/logout', {}, headers)).status).toBe(200);
  go();
  expect(await acting).toMatchObject({ status: 401, body: { code: 'control-unauthorized' } });
  expect(actions.done).toEqual([]);
  expect(actions.entries.at(-1)).toMatchObject({ by: 'olga', result: 'refused', code: 'control-unauthorized' });
});

test('an action that waits for its turn is not carried out after its client has gone', async () => {
  const { actions, waits, go } = waitingActions();
  const rig = await openRig(actions);
  const ended = once(rig.connections, 'end');
  const leaving = new AbortController();
  const acting = post(rig, '/fleet/actions/suspend', {}, TOKEN, leaving.signal);
  await eventually(
    async () => waits(),
    (count) => count === 1,
  );
  leaving.abort();
  await expect(acting).rejects.toThrow();
  await ended;
  go();
  await eventually(
    async () => actions.entries,
    (entries) => entries.length === 1,
  );
  expect([actions.done, actions.entries[0]?.result]).toEqual([[], 'refused']);
});

test('requests of other sites with the cookie of an operator are recorded', async () => {
  const actions = fakeActions();
  const rig = await openRig(actions);
  const headers = await logIn(rig);
  const { origin: _, ...withoutOrigin } = headers;
  for (const foreign of [
    withoutOrigin,
    { ...headers, origin: 'null' },
    { ...headers, origin: `${URL_OF_CONSOLE}.evil.example` },
    { ...headers, 'sec-fetch-site': 'same-site' },
    { ...headers, 'x-skep-csrf': '' },
    { ...headers, 'x-skep-csrf': `${headers['x-skep-csrf']}a` },
  ]) {
    const { status, body } = await post(rig, '/fleet/actions/suspend', {}, foreign);
    expect([status, body.code]).toEqual([403, 'control-cross-site']);
    expect(actions.entries.pop()).toMatchObject({ action: 'suspend', by: 'olga', result: 'refused' });
  }
  expect(actions.done).toEqual([]);
});

test('another method does not act, whatever header names POST', async () => {
  const actions = fakeActions();
  const rig = await openRig(actions);
  const headers = { ...TOKEN, 'x-http-method-override': 'POST', 'content-type': 'application/json' };
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
    expect((await fetch(`${rig.url}/fleet/actions/sync?_method=POST`, { method, headers })).status).toBe(405);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/json'])
    expect((await post(rig, '/fleet/actions/sync', {}, { ...TOKEN, 'content-type': type })).status).toBe(400);
  expect(actions.done).toEqual([]);
});

test('an action without its confirmation is not carried out, and a fault is recorded', async () => {
  const actions = fakeActions();
  const prepare: Actions['prepare'] = (name, input, use) =>
    actions.prepare(name, input, (prepared) =>
      use({ ...prepared, carryOut: () => Promise.reject(new TypeError('a fault')) }),
    );
  const rig = await openRig({ ...actions, prepare });
  expect((await post(rig, '/fleet/actions/approve', { hash: HASH }, TOKEN)).status).toBe(428);
  expect((await post(rig, '/fleet/actions/suspend', {}, TOKEN)).status).toBe(500);
  expect(actions.entries.at(-1)).toMatchObject({ result: 'failed', code: 'control-failed' });
});
