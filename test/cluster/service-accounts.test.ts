// Tokens of service accounts: how an API server issues them and lets others verify them, and a proxy that accepts them. The same
// cases run against the embedded server and, with KUBECONFIG, a real one.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { call, post, proxyBefore, startServer, stopAll, type TestServer } from '../gateway/proxy/rig.ts';
import { type Api, connect } from '../recordings/api.ts';
import { writeKubeconfigOfAccount } from './account.ts';
import { openServer, type SuiteServer } from './server.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const KEYS = '/openid/v1/jwks';
const dir = mkdtempSync(join(tmpdir(), 'skep-accounts-'));
let server: SuiteServer;
let namespace: string;
/** Another one, with an account of the same name. */
let other: string;
let admin: Api;
/** As a pod of the account. */
let pod: Api;
let backend: TestServer;
let settings: NonNullable<RunConfig['oidc_config']>;

beforeAll(async () => {
  server = await openServer();
  namespace = await server.namespace('accounts');
  admin = await connect(server.kubeconfig);
  const suite = await server.client('suite');
  other = await server.namespace('others');
  for (const metadata of [
    { name: 'caller', namespace },
    { name: 'neighbour', namespace },
    { name: 'caller', namespace: other },
  ]) {
    await suite.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, { force: true });
  }
  const path = join(dir, 'kubeconfig');
  const { url, authority } = await writeKubeconfigOfAccount(server.kubeconfig, namespace, path, 'caller');
  pod = await connect(path);
  const [ca, token] = [join(dir, 'ca.crt'), join(dir, 'token')];
  writeFileSync(ca, authority);
  writeFileSync(token, await tokenFor([]));
  backend = await startServer();
  settings = {
    ...{ issuer: url, issuer_is_api_server: true, audience: 'toolhive', ca_bundle_path: ca, auth_token_file: token },
    ...{ jwks_allow_private_ip: true, protected_resource_allow_private_ip: true, insecure_allow_http: false },
    ...{ resource_url: 'https://mcp.example/mcp', scopes: ['openid'] },
  };
});

afterAll(async () => {
  await stopAll();
  await Promise.all([admin?.close(), pod?.close(), server?.close()]);
  rmSync(dir, { recursive: true, force: true });
});

function request(spec: JsonObject, more: JsonObject = {}, account = 'caller', of = namespace) {
  return admin.call({
    ...{ method: 'POST', path: `/api/v1/namespaces/${of}/serviceaccounts/${account}/token`, query: {} },
    contentType: 'application/json',
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec, ...more }),
  });
}

async function tokenFor(audiences: readonly string[], more: JsonObject = {}, account?: string, of?: string) {
  const { body } = await request({ audiences: [...audiences], ...more }, {}, account, of);
  return isObject(body) && isObject(body.status) ? String(body.status.token) : '';
}

function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

test('a token is for the audiences and the time that its request names, and for the account', async () => {
  const { status, body } = await request({ audiences: ['toolhive', 'other'], expirationSeconds: 1200 });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    kind: 'TokenRequest',
    metadata: { name: 'caller', namespace },
    spec: { audiences: ['toolhive', 'other'], expirationSeconds: 1200, boundObjectRef: null },
    status: { expirationTimestamp: expect.stringMatching(/Z$/) },
  });
  const claims = claimsOf(await tokenFor(['toolhive', 'other'], { expirationSeconds: 1200 }));
  expect(claims).toMatchObject({
    aud: ['toolhive', 'other'],
    sub: `system:serviceaccount:${namespace}:caller`,
    'kubernetes.io': { namespace, serviceaccount: { name: 'caller', uid: expect.any(String) } },
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(1200);
});

test('without an audience a token is for the API server, whose issuer its discovery document names', async () => {
  const { body } = await pod.call({ method: 'GET', path: DISCOVERY, query: {} });
  const issuer = isObject(body) ? body.issuer : undefined;
  expect(claimsOf(await tokenFor([]))).toMatchObject({ iss: issuer, aud: [issuer] });
});

test.each([
  { reason: 'it is too short', spec: { expirationSeconds: 60 }, code: 422, field: 'spec.expirationSeconds' },
  { reason: 'it is too long', spec: { expirationSeconds: 2 ** 33 }, code: 422, field: 'spec.expirationSeconds' },
  {
    reason: 'it names another account',
    spec: {},
    more: { metadata: { name: 'other' } },
    code: 422,
    field: 'metadata.name',
  },
  { reason: 'there is no such account', spec: {}, account: 'nobody', code: 404 },
  {
    reason: 'it is bound to a pod that does not exist',
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'none' } },
    code: 404,
  },
])('a token is refused if $reason', async ({ spec, more = {}, account, code, field }) => {
  const { status, body } = await request(spec, more, account);
  expect(status).toBe(code);
  const details = isObject(body) && isObject(body.details) ? body.details : {};
  const causes = Array.isArray(details.causes) ? details.causes : [];
  expect(causes.map((cause) => isObject(cause) && cause.field)).toEqual(field === undefined ? [] : [field]);
});

const JWK_SET = 'application/jwk-set+json';

test.each([
  { path: DISCOVERY, accept: 'application/json', type: 'application/json' },
  { path: DISCOVERY, accept: `application/json, ${JWK_SET}`, type: 'application/json' },
  { path: DISCOVERY, accept: '*/*', type: 'application/json' },
  { path: DISCOVERY, accept: JWK_SET, type: undefined },
  { path: DISCOVERY, accept: 'application/*', type: undefined },
  { path: KEYS, accept: JWK_SET, type: JWK_SET },
  { path: KEYS, accept: `application/json, ${JWK_SET}`, type: JWK_SET },
  { path: KEYS, accept: '*/*', type: JWK_SET },
  { path: KEYS, accept: 'application/json', type: undefined },
  { path: KEYS, accept: 'application/*', type: undefined },
])('$path is $type for a client that accepts $accept', async ({ path, accept, type }) => {
  const { status, headers, body } = await pod.call({ method: 'GET', path, query: {}, accept });
  expect([status, headers['content-type']]).toEqual(type === undefined ? [406, 'application/json'] : [200, type]);
  if (type === undefined) expect(body).toMatchObject({ reason: 'NotAcceptable' });
});

test('a reconciler learns the issuer, or why it may not', async () => {
  const { body } = await pod.call({ method: 'GET', path: DISCOVERY, query: {} });
  const issuer = isObject(body) ? body.issuer : undefined;
  const allowed = await server.client('reconciler', join(dir, 'kubeconfig'));
  expect(await allowed.tokenIssuer()).toEqual({ issuer });
  const foreign = join(dir, 'foreign-kubeconfig');
  writeFileSync(foreign, readFileSync(join(dir, 'kubeconfig'), 'utf8').replace(/"token":"[^"]+"/, '"token":"nobody"'));
  const refused = await server.client('refused', foreign);
  expect(await refused.tokenIssuer()).toEqual({
    fault: expect.stringMatching(/\/\.well-known\/openid-configuration: (Unauthorized|forbidden)/),
  });
});

test('an account reads these documents and no object that no one lets it read', async () => {
  const secrets = await pod.call({ method: 'GET', path: `/api/v1/namespaces/${namespace}/secrets`, query: {} });
  expect([secrets.status, isObject(secrets.body) && secrets.body.reason]).toEqual([403, 'Forbidden']);
  const written = await pod.call({ method: 'POST', path: KEYS, query: {} });
  expect([403, 405]).toContain(written.status);
});

test('a proxy accepts tokens that the cluster issues for its audience, and no others', async () => {
  const proxy = await proxyBefore(backend.port, { oidc_config: settings });
  const statusOf = async (token: string) => {
    return (await post(proxy.url, call('a'), { authorization: `Bearer ${token}` })).status;
  };
  const good = await tokenFor(['toolhive']);
  expect(await statusOf(good)).toBe(200);
  expect(await statusOf(await tokenFor(['other']))).toBe(401);
  expect(await statusOf(await tokenFor([]))).toBe(401);
  const [header, , signature] = good.split('.');
  const claims = Buffer.from(JSON.stringify({ ...claimsOf(good), sub: 'system:serviceaccount:x:admin' }));
  expect(await statusOf(`${header}.${claims.toString('base64url')}.${signature}`)).toBe(401);
});

describe('a proxy that is for one account', () => {
  const cases = [
    {
      reason: 'the account is the named one',
      accepted: () => ({ namespace, name: 'caller' }),
      statuses: [200, 401, 401],
    },
    { reason: 'every account of the namespace counts', accepted: () => ({ namespace }), statuses: [200, 200, 401] },
    {
      reason: 'it is of the other namespace',
      accepted: () => ({ namespace: other, name: 'caller' }),
      statuses: [401, 401, 200],
    },
    { reason: 'no account is named', accepted: () => undefined, statuses: [200, 200, 200] },
  ];

  test.each(cases)('accepts its tokens alone: $reason', async ({ accepted, statuses }) => {
    const proxy = await proxyBefore(backend.port, { oidc_config: { ...settings, service_account: accepted() } });
    const tokens = [
      await tokenFor(['toolhive']),
      await tokenFor(['toolhive'], {}, 'neighbour'),
      await tokenFor(['toolhive'], {}, 'caller', other),
    ];
    const responses = await Promise.all(
      tokens.map((token) => post(proxy.url, call('a'), { authorization: `Bearer ${token}` })),
    );
    expect(responses.map(({ status }) => status)).toEqual(statuses);
    if (statuses.includes(401)) await proxy.log.until(/account-mismatch/);
  });
});

test('without the issuer that the API server names, the documented default accepts none of its tokens', async () => {
  const { issuer_is_api_server: _, ...fixed } = settings;
  const proxy = await proxyBefore(backend.port, { oidc_config: fixed });
  const refused = await post(proxy.url, call('a'), { authorization: `Bearer ${await tokenFor(['toolhive'])}` });
  expect(refused.status).toBe(401);
});

test('an API server that refuses the discovery leaves a token undecided, and the log names the URL', async () => {
  const file = join(dir, 'foreign');
  writeFileSync(file, 'a-token-of-nobody');
  const proxy = await proxyBefore(backend.port, { oidc_config: { ...settings, auth_token_file: file } });
  const undecided = await post(proxy.url, call('a'), { authorization: `Bearer ${await tokenFor(['toolhive'])}` });
  expect(undecided.status).toBe(503);
  await proxy.log.until(/openid-configuration answered with status 40[13]/);
});
