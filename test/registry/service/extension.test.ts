// The extension of the API: what registries there are, how their sync goes, and the manual sync. Over a real PostgreSQL.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { due } from '#registry/catalogue/due.ts';
import { KEY, openService, type Service, SYNC_TOKEN } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService('auth: {mode: anonymous, syncTokenFile: sync-token}');
});

afterAll(() => service.close());

const BASE = '/extension/v0/registries';
const ALLOWED = { authorization: `Bearer ${SYNC_TOKEN}` };
const JANUARY = '2026-01-01T00:00:00.000Z';
const FILE = { type: 'FILE', creationType: 'CONFIG', sourceType: 'file', format: 'toolhive' };

const FAILED = 'the last attempt failed; the entries that were read before are still served';

test('each registry of the configuration is told, with its sync as far as there was one', async () => {
  const state = {
    phase: 'Failed',
    message: 'https://git.example: connection refused',
    lastAttempt: '2026-01-02T00:00:00.000Z',
    lastSyncTime: JANUARY,
    attemptCount: 3,
    serverCount: 7,
    rejectedCount: 0,
  } as const;
  await service.store.record(KEY, state);
  const { status, json, headers } = await service.get(BASE);
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' });
  const { phase: _, rejectedCount: __, ...reported } = state;
  expect(json.registries).toEqual([
    { name: 'tools', ...FILE, syncSchedule: '1h30m', syncStatus: { ...reported, phase: 'failed', message: FAILED } },
    { name: 'empty', ...FILE },
    { name: 'with/slash', ...FILE },
    { name: 'nothing', type: 'MANAGED', creationType: 'CONFIG', sourceType: 'managed', format: 'toolhive' },
  ]);
  expect((await service.get(`${BASE}/with%2Fslash`)).json).toEqual(json.registries[2]);
  expect(await service.get(`${BASE}/nobody`)).toMatchObject({ status: 404, text: '{"error":"registry not found"}' });
});

test('a manual sync makes the source due once, for whoever syncs it', async () => {
  const source = {
    name: 'tools',
    format: 'toolhive',
    origin: { type: 'configMap', name: 'a', key: 'b' },
    filter: { names: { include: [], exclude: [] }, tags: { include: [], exclude: [] } },
  } as const;
  await service.fill([], JANUARY);
  const own = { namespace: KEY.namespace, registry: KEY.registry };
  async function decision() {
    const { tools } = await service.store.states(own);
    return { requests: tools?.requests, served: tools?.requestsServed, reason: reasonOf(tools) };
  }
  function reasonOf(state: Parameters<typeof due>[1]): string {
    const attempted = { ...Object(state), lastAttempt: JANUARY, declarationHash: undefined };
    return due(source, attempted, undefined, Date.parse(JANUARY)).reason;
  }
  expect((await decision()).reason).toBe('declaration-changed');
  const asked = await Promise.all(
    Array.from({ length: 3 }, () => service.send({ method: 'POST', url: `${BASE}/tools/sync`, headers: ALLOWED })),
  );
  expect(asked.map(({ status, json }) => ({ status, name: json.name }))).toEqual(
    Array.from({ length: 3 }, () => ({ status: 202, name: 'tools' })),
  );
  expect(await decision()).toEqual({ requests: 3, served: undefined, reason: 'triggered' });
  const { tools } = await service.store.states(own);
  await service.store.record(KEY, { ...Object(tools), requestsServed: 3 });
  expect(await decision()).toEqual({ requests: 3, served: 3, reason: 'declaration-changed' });
});

test.each([
  { url: `${BASE}/nobody/sync`, status: 404, error: 'registry not found' },
  { url: `${BASE}/nothing/sync`, status: 409, error: 'the registry has no source to sync' },
])('$url gets $status', async ({ url, status, error }) => {
  const answer = await service.send({ method: 'POST', url, headers: ALLOWED });
  expect({ status: answer.status, text: answer.text }).toEqual({ status, text: JSON.stringify({ error }) });
});

test('a registry that never synced is due anyway, so there is nothing to leave word for', async () => {
  expect((await service.send({ method: 'POST', url: `${BASE}/empty/sync`, headers: ALLOWED })).status).toBe(202);
  expect((await service.get(`${BASE}/empty`)).json.syncStatus).toBeUndefined();
});

test.each([
  { payload: '{"a":1}', type: 'application/json', status: 202, reason: 'a body that nobody reads' },
  { payload: '{', type: 'application/json', status: 202, reason: 'a broken one' },
  { payload: '', type: 'application/json', status: 202, reason: 'an empty one' },
  { payload: 'x', type: 'text/nonsense; charset', status: 202, reason: 'one of no known type' },
  { payload: 'x'.repeat(70_000), type: 'text/plain', status: 413, reason: 'one that is too long' },
])('$reason is answered with $status', async ({ payload, type, status }) => {
  const answer = await service.send({
    method: 'POST',
    url: `${BASE}/tools/sync`,
    payload,
    headers: { ...ALLOWED, 'content-type': type },
  });
  expect(answer.status).toBe(status);
});

test.each(['GET', 'PUT', 'DELETE'] as const)('%s is not how a sync is asked for', async (method) => {
  const { status, headers } = await service.send({ method, url: `${BASE}/tools/sync` });
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'POST, OPTIONS' });
});

test.each([
  { headers: {}, reason: 'no token' },
  { headers: { authorization: 'Bearer another' }, reason: 'another one' },
  { headers: { authorization: `Bearer ${SYNC_TOKEN}x` }, reason: 'one that begins alike' },
  { headers: { authorization: `Basic ${SYNC_TOKEN}` }, reason: 'another scheme' },
])('where everybody may read, a manual sync with $reason is refused', async ({ headers }) => {
  const own = { namespace: KEY.namespace, registry: KEY.registry };
  const before = (await service.store.states(own)).tools?.requests;
  const answer = await service.send({ method: 'POST', url: `${BASE}/tools/sync`, headers });
  expect(answer).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="mcp-registry"' },
    text: '{"error":"a manual sync needs its token"}',
  });
  expect((await service.store.states(own)).tools?.requests).toBe(before);
  expect((await service.get(`${BASE}/tools`)).status).toBe(200);
});

test('where everybody may read and there is no token for it, nobody may ask for a sync', async () => {
  const open = await openService();
  try {
    const answer = await open.send({ method: 'POST', url: `${BASE}/tools/sync`, headers: ALLOWED });
    expect(answer).toMatchObject({
      status: 403,
      text: '{"error":"a manual sync is not allowed: there is no token for it"}',
    });
    expect(open.logs()).toContain('"code":"sync-refused"');
  } finally {
    await open.close();
  }
});
