// Tests the server's address and credentials: kubeconfigs, tokens from files and commands, proxies.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import {
  cleanups,
  connect,
  failureOf,
  folder,
  type Handle,
  kubeconfig,
  serve,
  status,
  widget,
} from '../../../test/harness/api-server.ts';
import { connectCluster } from './connect.ts';

test('the context names the server and the home namespace', async () => {
  const url = 'https://127.0.0.1:1';
  const path = kubeconfig(url, { context: { namespace: 'first' } });
  expect((await connect(url, { kubeconfig: path })).homeNamespace()).toBe('first');
  const second = await connectCluster({
    kubeconfig: path,
    context: 'two',
    fieldManager: 'x',
    concurrency: 1,
    version: '0',
    clock: systemClock,
  });
  expect([second.homeNamespace(), second.server()]).toEqual(['second', url]);
  expect((await connect(url)).homeNamespace()).toBe('default');
});

test.each([
  { text: undefined, context: undefined, says: 'cannot be read', reason: 'no such file' },
  { text: '', context: undefined, says: 'is not a kubeconfig: ', reason: 'nothing' },
  { text: '{"half', context: undefined, says: 'is not a kubeconfig: ', reason: 'broken YAML' },
  { text: 'kind: Config', context: undefined, says: 'has no context ""', reason: 'no contexts' },
  { text: undefined, context: 'three', says: 'has no context "three"', reason: 'an unknown context' },
  { cluster: { server: 'http://127.0.0.1:1' }, says: 'is not TLS', reason: 'plain HTTP' },
  { cluster: { server: 'nonsense' }, says: 'no http or https server', reason: 'no URL' },
])('a kubeconfig is refused: $reason', async ({ text, context, says, cluster }) => {
  const path =
    context === undefined && cluster === undefined
      ? join(folder(), 'kubeconfig')
      : kubeconfig('https://127.0.0.1:1', { ...(cluster && { cluster }) });
  if (text !== undefined) writeFileSync(path, text);
  const options = { fieldManager: 'x', concurrency: 1, version: '0', clock: systemClock, kubeconfig: path };
  const failure = await failureOf(() => connectCluster({ ...options, ...(context && { context }) }));
  expect([failure.code, failure.message]).toEqual(['cluster-config-invalid', expect.stringContaining(says)]);
});

test('the message about a kubeconfig named only in the environment contains the variable and its path', async () => {
  const path = join(folder(), 'gone');
  vi.stubEnv('KUBECONFIG', path);
  try {
    const options = { fieldManager: 'x', concurrency: 1, version: '0', clock: systemClock, usual: path };
    const failure = await failureOf(() => connectCluster(options));
    expect(failure.message).toMatch(/^\$KUBECONFIG \(.*\) cannot be read, or is not a kubeconfig: \S/);
  } finally {
    vi.unstubAllEnvs();
  }
});

/** Returns a handler that rejects all other tokens with 401. */
function expecting(token: () => string): Handle {
  return ({ headers }) =>
    headers.authorization === `Bearer ${token()}` ? { json: widget } : status(401, 'Unauthorized', 'Unauthorized');
}

test('a token in a file is read again after it was refused', async () => {
  const tokenFile = join(folder(), 'token');
  writeFileSync(tokenFile, 'old\n');
  let valid = 'old';
  const { url, received, connections } = await serve(expecting(() => valid));
  const cluster = await connect(url, { user: { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } } });
  await cluster.apply(widget, { force: false });
  valid = 'new';
  writeFileSync(tokenFile, 'new\n');
  await Promise.all(Array.from({ length: 4 }, () => cluster.apply(widget, { force: false })));
  expect(received.filter(({ headers }) => headers.authorization === 'Bearer old').length).toBeLessThanOrEqual(5);
  expect(connections()).toBeLessThanOrEqual(6);
  valid = 'neither';
  const failure = await failureOf(() => cluster.apply(widget, { force: false }));
  expect([failure.code, failure.message]).toEqual(['cluster-unauthorized', expect.stringContaining('Unauthorized')]);
  expect(received.filter(({ headers }) => headers.authorization === 'Bearer new').length).toBe(6);
});

function execUser(script: string): Record<string, unknown> {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script],
    interactiveMode: 'Never',
  };
  return { exec };
}

test('a credentials command runs once, and again after its token was refused', async () => {
  const log = join(folder(), 'runs');
  const script = `
    require('fs').appendFileSync(${JSON.stringify(log)}, 'x');
    const token = 'token-' + require('fs').readFileSync(${JSON.stringify(log)}).length;
    console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }));`;
  let valid = 'token-1';
  const { url } = await serve(expecting(() => valid));
  const cluster = await connect(url, { user: execUser(script) });
  await cluster.apply(widget, { force: false });
  await cluster.apply(widget, { force: false });
  expect(readFileSync(log, 'utf8')).toBe('x');
  valid = 'token-2';
  await Promise.all(Array.from({ length: 4 }, () => cluster.apply(widget, { force: false })));
  expect(readFileSync(log, 'utf8')).toBe('xx');
});

test('a failed credentials command is reported with its message', async () => {
  const { url } = await serve(() => ({}));
  const cluster = await connect(url, {
    user: execUser("console.error('log in first\\nsecond line'); process.exit(3)"),
  });
  const failure = await failureOf(() => cluster.resources());
  expect([failure.code, failure.message]).toEqual([
    'cluster-credentials',
    'credentials of user "u" cannot be obtained: log in first',
  ]);
});

test('the proxy of a kubeconfig is used, and an unsupported or invalid proxy URL is refused', async () => {
  const { url } = await serve(() => ({ json: widget }));
  const asked: (string | undefined)[] = [];
  const proxy = createProxy().on('connect', (request, client) => {
    asked.push(request.url);
    const upstream = connectSocket(Number(new URL(url).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      cleanups.push(() => socket.destroy());
    }
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  cleanups.push(() => proxy.close());
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const cluster = await connect(url, { cluster: { 'proxy-url': proxyUrl } });
  expect(await cluster.apply(widget, { force: false })).toEqual(widget);
  expect(asked).toContain(url.slice('https://'.length));
  for (const refused of ['socks5://127.0.0.1:1', '::nonsense']) {
    const other = await connect(url, { cluster: { 'proxy-url': refused } });
    expect((await failureOf(() => other.resources())).code).toBe('cluster-config-invalid');
  }
});

test('an unreadable certificate is reported if the connection uses TLS, otherwise ignored', async () => {
  const user = { 'client-certificate-data': 'aGVsbG8=', 'client-key-data': 'aGVsbG8=' };
  const plain = createProxy((_request, response) => response.writeHead(403).end('{}')).listen(0, '127.0.0.1');
  cleanups.push(() => void plain.close());
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  const cluster = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined };
  const unsecured = await connect(`http://127.0.0.1:${port}`, { user, cluster });
  expect((await failureOf(() => unsecured.resources())).data.status).toBe(403);
  const { url } = await serve(({ body }) => ({ json: JSON.parse(body) }));
  const secured = await connect(url, { user });
  const failure = await failureOf(() => secured.resources());
  expect([failure.code, failure.message]).toEqual(['cluster-unreachable', expect.stringContaining('PEM routines')]);
});
