// Tests requests through a real proxy on loopback, and the rules for targets that are reached without a proxy.

import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { type ConnectProxy, startConnectProxy, startTlsFront } from '../../../test/harness/connect-proxy.ts';
import { egressOf } from './egress.ts';
import { createOutbound, type Outbound } from './outbound.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

async function startProxy(status?: string): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(status);
  cleanups.push(proxy.close);
  return proxy;
}

const DAY_MS = 86_400_000;
const validity = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
const authority = createAuthority('egress-test', validity);

async function startTarget(): Promise<number> {
  const { certificate: cert, privateKey: key } = createServerCertificate(
    authority,
    'egress-test',
    ['git.example.com'],
    validity,
  );
  return listen(createTlsServer({ cert, key }, (_request, response) => response.end('hello')));
}

function client(proxy: string, except = '', address = '198.51.100.7', allowPrivate: readonly string[] = []): Outbound {
  const created = createOutbound({
    allowPrivate,
    version: '1',
    ca: authority.certificate,
    egress: egressOf({ https: proxy, http: proxy, except }),
    resolve: async () => [{ address, family: 4 }],
  });
  cleanups.push(() => created.close());
  return created;
}

/** Addresses for documentation, which are never assigned (RFC 5737). */
const DOCUMENTATION = ['198.51.100.0/24'];

test('https uses a tunnel through the proxy, and the certificate of the target is verified', async () => {
  const [proxy, port] = [await startProxy(), await startTarget()];
  const outbound = client(proxy.url, '', undefined, DOCUMENTATION);
  const { status, body } = await outbound.request({ method: 'GET', url: `https://git.example.com:${port}/a` });
  expect([status, Buffer.from(body).toString()]).toEqual([200, 'hello']);
  expect(proxy.asked).toEqual([`git.example.com:${port} Basic ${Buffer.from('bot:s@fe').toString('base64')}`]);
  const other = outbound.request({ method: 'GET', url: `https://other.example.com:${port}/a` });
  await expect(other).rejects.toMatchObject({ code: 'outbound-tls' });
});

test('a target at a private address is refused before a request to the proxy', async () => {
  const [proxy, port] = [await startProxy(), await startTarget()];
  const outbound = client(proxy.url, '', '10.0.0.1');
  for (const host of ['git.example.com', '127.0.0.1', '[::1]']) {
    const request = outbound.request({ method: 'GET', url: `https://${host}:${port}/a` });
    await expect(request).rejects.toMatchObject({ code: 'outbound-refused-address' });
  }
  expect(proxy.asked).toEqual([]);
});

test('the certificates of a request apply only to its target, and the certificates of the options to an https proxy', async () => {
  const [proxy, port] = [await startProxy(), await startTarget()];
  const front = await startTlsFront(['127.0.0.1'], Number(new URL(proxy.url).port));
  cleanups.push(front.close);
  const opened = (ca: string) => {
    const created = createOutbound({
      allowPrivate: DOCUMENTATION,
      version: '1',
      ca,
      egress: egressOf({ https: `https://127.0.0.1:${front.port}` }),
      resolve: async () => [{ address: '198.51.100.7', family: 4 }],
    });
    cleanups.push(() => created.close());
    return created;
  };
  const request = { method: 'GET', url: `https://git.example.com:${port}/a` } as const;
  const misled = opened(authority.certificate).request({ ...request, ca: front.authority });
  await expect(misled).rejects.toMatchObject({ code: 'outbound-tls' });
  expect(proxy.asked).toEqual([]);
  const answer = await opened(front.authority).request({ ...request, ca: authority.certificate });
  expect(answer.status).toBe(200);
});

test('targets in NO_PROXY are requested without the proxy', async () => {
  const [proxy, port] = [await startProxy(), await startTarget()];
  const outbound = client(proxy.url, 'example.com', '127.0.0.1', ['127.0.0.0/8']);
  expect((await outbound.request({ method: 'GET', url: `https://git.example.com:${port}/a` })).status).toBe(200);
  expect(proxy.asked).toEqual([]);
});

test('the message about a proxy that refuses contains no password', async () => {
  const proxy = await startProxy('407 Proxy Authentication Required');
  const request = client(proxy.url, '', undefined, DOCUMENTATION).request({
    method: 'GET',
    url: 'https://git.example.com/a',
  });
  const error: Error = await request.then(
    () => new Error('it answered'),
    (failure) => failure,
  );
  expect(error).toMatchObject({ code: 'outbound-unreachable' });
  expect(error.message).toMatch(/the proxy 127\.0\.0\.1:\d+ answered CONNECT with 407/);
  expect(error.message).not.toContain('s@fe');
});

test.each([
  { except: '', url: 'https://a.example.com/', through: true },
  { except: 'example.com', url: 'https://a.example.com/', through: false },
  { except: '.example.com', url: 'https://example.com/', through: false },
  { except: '*.example.com', url: 'https://a.example.com/', through: false },
  { except: 'example.com', url: 'https://badexample.com/', through: true },
  { except: 'example.com:8443', url: 'https://a.example.com/', through: true },
  { except: 'a, example.com:8443', url: 'https://a.example.com:8443/', through: false },
  { except: '10.0.0.0/8', url: 'https://10.1.2.3/', through: false },
  { except: '10.0.0.0/8', url: 'https://11.1.2.3/', through: true },
  { except: 'fd00::/8', url: 'https://[fd00::1]/', through: false },
  { except: '*', url: 'https://a.example.com/', through: false },
])('with NO_PROXY "$except" $url goes through the proxy: $through', ({ except, url, through }) => {
  expect(egressOf({ https: 'http://proxy:3128', except })(new URL(url)) !== undefined).toBe(through);
});

test('http uses only its own proxy, and a proxy that is not a URL is refused', () => {
  expect(egressOf({ https: 'http://proxy:3128' })(new URL('http://a.example.com/'))).toBeUndefined();
  expect(() => egressOf({ https: 'proxy:3128' })).toThrow(expect.objectContaining({ code: 'outbound-proxy-invalid' }));
});
