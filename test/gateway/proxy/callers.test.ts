// Tests authentication and authorisation of callers: invalid and unverifiable tokens, sessions of other callers, and
// policies that change at run time. In one file, because the tests share one issuer, one server and the settings for
// tokens.

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import {
  type Answered,
  type AttackedProxy,
  answerPlainly,
  answerResult,
  call,
  HEADERS,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  type Received,
  readAnswer,
  startServer,
  stopAll,
  type TestServer,
} from './rig.ts';
import { runProxy } from './world.ts';

let issuer: Issuer;
let server: TestServer;
let directory: string;
let answer: (received: Received) => void = answerPlainly;

const JWK_SET = 'application/jwk-set+json';
const RESOURCE = 'https://mcp.example/some/mcp';

beforeAll(async () => {
  issuer = await startIssuer();
  server = await startServer((received) => answer(received));
  directory = await mkdtemp(join(tmpdir(), 'skep-callers-'));
});
afterAll(async () => {
  await stopAll();
  await issuer.close();
  await rm(directory, { recursive: true });
});

function oidc(more: Partial<NonNullable<RunConfig['oidc_config']>> = {}): Partial<RunConfig> {
  return {
    oidc_config: {
      issuer: issuer.url,
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
      resource_url: RESOURCE,
      scopes: ['openid'],
      ...more,
    },
  };
}

const soon = () => Math.floor(Date.now() / 1000) + 600;

async function bearer(sub: string, more: object = {}): Promise<{ readonly authorization: string }> {
  const claims = { iss: issuer.url, aud: RESOURCE, sub, exp: soon(), ...more };
  return { authorization: `Bearer ${await issuer.sign(claims)}` };
}

const SSE: Partial<RunConfig> = { transport: 'sse' };
const STDIO: Partial<RunConfig> = { transport: 'stdio', process: { command: [process.execPath, '-e', ''], env: {} } };

describe.each([
  ['streamable-http', {}, '/mcp'],
  ['sse', SSE, '/sse'],
  ['stdio', STDIO, '/mcp'],
  ['stdio with a front of 2024-11-05', { ...STDIO, proxy_mode: 'sse' as const }, '/sse'],
])('before a server of %s', (_transport, settings, path) => {
  let proxy: AttackedProxy;
  beforeAll(async () => {
    proxy = await proxyBefore(server.port, { ...settings, ...oidc() });
  });

  it('a caller without a token gets the URL of the metadata, and the server gets no request', async () => {
    const before = server.received.filter(({ request }) => request.headers.authorization !== undefined).length;
    const refused = await fetch(`${proxy.origin}${path}`, { headers: { ...HEADERS, accept: 'text/event-stream' } });
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer /);
    expect(challenge).toContain(
      'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/some/mcp"',
    );
    expect(challenge).not.toContain('error=');
    for (const where of ['', '/', '/some/mcp', '/some/mcp/']) {
      const document = await fetch(`${proxy.origin}/.well-known/oauth-protected-resource${where}`);
      expect(document.status).toBe(200);
      expect(await document.json()).toMatchObject({ resource: RESOURCE, authorization_servers: [issuer.url] });
    }
    expect(server.received.filter(({ request }) => request.headers.authorization !== undefined).length).toBe(before);
  });
});

describe('a task', () => {
  const TASK = 'task of the server';

  beforeAll(() => {
    answer = (received) => {
      const { response, message } = received;
      if (message?.method === 'tools/call') answerResult(response, message, { task: { taskId: TASK } });
      else if (message?.method === 'tasks/get') answerResult(response, message, { taskId: TASK, status: 'working' });
      else answerPlainly(received);
    };
  });
  afterAll(() => {
    answer = answerPlainly;
  });

  it('is known only to the caller that created it, whatever other callers may do', async () => {
    const path = join(directory, 'tasks.json');
    const policies = ['permit(principal, action, resource);'];
    await writeFile(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
    const proxy = await proxyBefore(server.port, { ...oidc(), authz_config_path: path });
    const [ada, bob] = [await bearer('ada'), await bearer('bob')];
    const send = async (method: string, params: object, headers: Readonly<Record<string, string>>) =>
      JSON.parse((await post(proxy.url, { jsonrpc: '2.0', id: 1, method, params }, { ...HEADERS, ...headers })).text);
    const made = await send('tools/call', { name: 'chart', task: {} }, ada);
    const { taskId } = made.result.task;
    const before = server.received.length;
    expect((await send('tasks/get', { taskId }, bob)).error.message).toContain('Task not found');
    expect(server.received.slice(before).filter(({ message }) => message?.method === 'tasks/get')).toEqual([]);
    expect((await send('tasks/get', { taskId }, await bearer('ada'))).result.taskId).toBe(taskId);
  });
});

describe('a token', () => {
  let proxy: AttackedProxy;
  beforeAll(async () => {
    proxy = await proxyBefore(server.port, oidc());
  });

  it('that is valid authenticates its caller', async () => {
    expect((await post(proxy.url, call('a'), await bearer('ann'))).status).toBe(200);
  });

  it.each([
    ['expired', { exp: 1 }],
    ['not yet valid', { nbf: 4_000_000_000 }],
    ['for another resource', { aud: 'https://other.example/' }],
    ['for a resource that this one begins with', { aud: 'https://mcp.example/' }],
    ['of another issuer', { iss: 'https://evil.example' }],
  ])('that is %s is refused as invalid', async (_what, claims) => {
    const before = server.received.length;
    const refused = await post(proxy.url, call('a'), await bearer('ann', claims));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(server.received.length).toBe(before);
  });

  it('that is malformed or sent twice is refused', async () => {
    const before = server.received.length;
    const { authorization } = await bearer('ann');
    const [head, claims, signature] = authorization.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const others = [
      'Bearer',
      'Bearer  ',
      'Basic YTpi',
      `bearer ${none}.${claims}.`,
      `${head}.${claims}.AAAA`,
      `${head}.${claims}.${signature}, x`,
    ];
    for (const other of others) expect((await post(proxy.url, call('a'), { authorization: other })).status).toBe(401);
    const client = openRaw(proxy.port);
    const lines = ['POST /mcp HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json', 'Content-Length: 2'];
    client.send(`${[...lines, `Authorization: ${authorization}`, `authorization: Bearer x`].join('\r\n')}\r\n\r\n{}`);
    await client.until(/HTTP\/1\.1 401/);
    client.socket.destroy();
    expect(server.received.length).toBe(before);
  });

  it('can be renewed within a session, which another caller cannot use', async () => {
    const ann = await bearer('ann', { jti: '1' });
    const annAgain = await bearer('ann', { jti: '2' });
    const bob = await bearer('bob');
    expect(annAgain).not.toEqual(ann);
    const session = (await post(proxy.url, INITIALIZE, ann)).headers.get('mcp-session-id') ?? '';
    const id = { 'mcp-session-id': session };
    expect((await post(proxy.url, call('a'), { ...ann, ...id })).status).toBe(200);
    expect((await post(proxy.url, call('a'), { ...annAgain, ...id })).status).toBe(200);
    const before = server.received.length;
    expect((await post(proxy.url, call('a'), { ...bob, ...id })).status).toBe(404);
    expect(
      (await post(proxy.url, call('a'), { ...(await bearer('ann', { azp: 'another client' })), ...id })).status,
    ).toBe(404);
    for (const method of ['GET', 'DELETE']) {
      const headers = { ...HEADERS, accept: 'text/event-stream', ...bob, ...id };
      expect((await fetch(proxy.url, { method, headers })).status).toBe(404);
    }
    expect(server.received.length).toBe(before);
    expect(proxy.log.text()).not.toContain(ann.authorization.slice(7));
  });

  it('that is unknown leads to 503 while the issuer is unreachable; known tokens stay valid', async () => {
    const other = await startIssuer();
    const away = await proxyBefore(server.port, oidc({ issuer: other.url }));
    const claims = { iss: other.url, aud: RESOURCE, sub: 'ann', exp: soon() };
    const known = { authorization: `Bearer ${await other.sign(claims)}` };
    expect((await post(away.url, call('a'), known)).status).toBe(200);
    await other.rotateKeys();
    await other.stop();
    expect((await post(away.url, call('a'), known)).status).toBe(200);
    const fresh = await proxyBefore(server.port, oidc({ issuer: other.url }));
    const refused = await post(fresh.url, call('a'), known);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });
});

it('service account tokens are verified with the current content of the CA file and the token file', async () => {
  const validity = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 };
  const [oldRoot, newRoot] = [createAuthority('root', validity), createAuthority('root', validity)];
  const [ca, token] = [join(directory, 'ca.crt'), join(directory, 'token')];
  await writeFile(ca, oldRoot.certificate);
  await writeFile(token, 'first\n');
  const seen: (string | undefined)[] = [];
  const certificate = (root: typeof oldRoot) => {
    const made = createServerCertificate(root, 'root', ['127.0.0.1'], validity);
    return { cert: made.certificate, key: made.privateKey };
  };
  const api = createSecureServer(certificate(oldRoot), (request, response) => {
    seen.push(request.headers.authorization);
    // A kube-apiserver serves its keys only in this media type (test/cluster/service-accounts.test.ts).
    const accepts = (request.headers.accept ?? '').split(',').some((range) => range.trim() === JWK_SET);
    if (!accepts) return void response.writeHead(406, { connection: 'close' }).end();
    response.writeHead(200, { 'content-type': JWK_SET, connection: 'close' });
    response.end(JSON.stringify({ keys: [issuer.publicKey('RS256')] }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const { port }: AddressInfo = Object(api.address());
  const cluster = { jwks_url: `https://127.0.0.1:${port}/openid/v1/jwks`, ca_bundle_path: ca, auth_token_file: token };
  const sub = 'system:serviceaccount:agents:ann';
  const first = await proxyBefore(server.port, oidc(cluster));
  expect((await post(first.url, call('a'), await bearer(sub))).status).toBe(200);
  expect(seen.at(-1)).toBe('Bearer first');
  // CA and token rotate. The issuer's new keys make the proxy request the key set again.
  api.setSecureContext(certificate(newRoot));
  await writeFile(ca, newRoot.certificate);
  await writeFile(token, 'second\n');
  await issuer.rotateKeys();
  const asks = async (): Promise<Answered> => post(first.url, call('a'), await bearer(sub));
  await expect.poll(async () => (await asks()).status, { interval: 500 }).toBe(200);
  expect(seen.at(-1)).toBe('Bearer second');
  await new Promise((resolve) => api.close(resolve));
});

describe('policies', () => {
  const write = async (file: string, policies: readonly string[] | string) => {
    const text =
      typeof policies === 'string'
        ? policies
        : JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies, entities_json: '[]' } });
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };
  const permit = (tool: string) => `permit(principal, action == Action::"call_tool", resource == Tool::"${tool}");`;

  it('that are replaced decide the next call in an existing session; invalid policies are never used', async () => {
    const file = join(directory, 'replaced.json');
    await write(file, [permit('a')]);
    const proxy = await proxyBefore(server.port, { authz_config_path: file });
    const session = { 'mcp-session-id': (await post(proxy.url, INITIALIZE)).headers.get('mcp-session-id') ?? '' };
    const tools = async () => [
      (await post(proxy.url, call('a'), session)).status,
      (await post(proxy.url, call('b'), session)).status,
    ];
    expect(await tools()).toEqual([200, 403]);
    await write(file, [permit('b')]);
    await proxy.log.until(/changed rules are in force/);
    expect(await tools()).toEqual([403, 200]);
    const denied = await post(proxy.url, call('a', {}, 'mine'), session);
    expect(JSON.parse(denied.text)).toMatchObject({ jsonrpc: '2.0', id: 'mine', error: { code: 403 } });
    let faults = 0;
    for (const broken of [
      '',
      'null',
      '{',
      '{"version":"1.0","type":"cedarv1","cedar":{"policies":["permit("]}}',
      '[]',
      '\0',
    ]) {
      await write(file, broken);
      faults += 1;
      const lines = () => proxy.log.text().split('the last good settings stay in force').length - 1;
      await expect.poll(lines).toBe(faults);
      expect(await tools()).toEqual([403, 200]);
    }
    await rm(file);
    expect(await tools()).toEqual([403, 200]);
    expect(server.received.at(-1)?.request.headers['mcp-session-id']).toBe('session of the server');
  });

  it('that lead to an error deny the call, also if the call is sent as a notification', async () => {
    const file = join(directory, 'errs.json');
    await write(file, ['permit(principal, action, resource) when { context.nothing.at.all == 1 };']);
    const proxy = await proxyBefore(server.port, { authz_config_path: file });
    const before = server.received.length;
    expect((await post(proxy.url, call('a'))).status).toBe(403);
    const { id: _id, ...notification } = { ...call('a') } as { id: number };
    expect((await post(proxy.url, notification)).status).toBe(400);
    expect((await post(proxy.url, { jsonrpc: '2.0', method: 'tools/call/../x' })).status).not.toBe(200);
    expect((await post(proxy.url, { jsonrpc: '2.0', id: 1, method: 'Tools/Call', params: { name: 'a' } })).status).toBe(
      403,
    );
    expect(server.received.slice(before).map(({ message }) => message?.method)).toEqual([]);
  });

  it('that forbid are named in the audit, policies in error also in the log, and neither in the response', async () => {
    const file = join(directory, 'named.json');
    const forbid = 'forbid(principal, action, resource == Tool::"a");';
    const errs = 'forbid(principal, action, resource == Tool::"b") when { context.arg_none == 1 };';
    await write(file, ['permit(principal, action, resource);', forbid, errs]);
    const proxy = await runProxy({
      ...{ target_host: '127.0.0.1', target_port: server.port, authz_config_path: file },
      audit_config: { enabled: true, component: 'named' },
    });
    const texts = [(await post(proxy.url, call('a'))).text, (await post(proxy.url, call('b'))).text];
    await proxy.written('policy-error');
    await proxy.stop();
    const missing = 'policy2: record does not have the attribute `arg_none`';
    expect(proxy.audit.map(({ metadata }) => [metadata.extra.refusal, metadata.extra.refusal_detail])).toEqual([
      ['policy-denied', 'forbidden by policy1'],
      ['policy-error', missing],
    ]);
    const details = proxy.log.filter(({ msg }) => msg === 'request').map(({ detail }) => detail);
    expect(details).toEqual([missing]);
    expect(texts.join()).not.toMatch(/policy\d|arg_none/);
  });

  it('show each caller the items that it may call', async () => {
    const file = join(directory, 'lists.json');
    const only = (sub: string, tool: string) =>
      `permit(principal, action == Action::"call_tool", resource == Tool::"${tool}") when { principal.claim_sub == "${sub}" };`;
    await write(file, [only('ann', 'a'), only('bob', 'b')]);
    const proxy = await proxyBefore(server.port, { authz_config_path: file, ...oidc() });
    answer = ({ response, message }) =>
      answerResult(response, message ?? {}, { tools: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const shown = async (sub: string) =>
      [...(await post(proxy.url, list, await bearer(sub))).text.matchAll(/"name":"(.)"/g)].map(([, name]) => name);
    expect(await Promise.all(['ann', 'bob', 'eve'].map(shown))).toEqual([['a'], ['b'], []]);
    answer = answerPlainly;
  });

  it('that read hints know the hints of all pages before the first call', async () => {
    const file = join(directory, 'hints.json');
    await write(file, [
      'permit(principal, action == Action::"call_tool", resource) when { resource has readOnlyHint && resource.readOnlyHint };',
    ]);
    const proxy = await proxyBefore(server.port, { authz_config_path: file });
    const page = (name: string, readOnlyHint: boolean, nextCursor?: string) => ({
      tools: [{ name, annotations: { readOnlyHint } }],
      nextCursor,
    });
    answer = (received) => {
      const { response, message } = received;
      if (message?.method !== 'tools/list') return answerPlainly(received);
      answerResult(
        response,
        message,
        message.params?.cursor === 'two' ? page('last', false) : page('first', true, 'two'),
      );
    };
    const lists = () => server.received.filter(({ message }) => message?.method === 'tools/list').length;
    const before = lists();
    // The last page alone does not contain the tools of earlier pages.
    const last = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'two' } };
    expect((await post(proxy.url, last)).status).toBe(200);
    expect((await post(proxy.url, call('first'))).status).toBe(200);
    expect(lists() - before).toBe(3);
    expect((await post(proxy.url, call('last'))).status).toBe(403);
    expect(lists() - before).toBe(3);
    // An unlisted tool may be new, or the server may list it only for some callers.
    expect((await post(proxy.url, call('unknown'))).status).toBe(403);
    expect(lists() - before).toBe(5);
    answer = answerPlainly;
  });
});

it('a refused HTTP method reveals nothing about authentication', async () => {
  const proxy = await proxyBefore(server.port, oidc());
  expect((await readAnswer(await fetch(proxy.url, { method: 'PUT' }))).status).toBe(405);
});
