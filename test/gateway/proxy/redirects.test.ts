// Tests redirects of a server: the proxy follows 307 and 308 within the origin, and refuses all other redirects.

import { afterAll, describe, expect, test } from 'vitest';
import { answerPlainly, call, post, proxyBefore, type Received, startServer, stopAll } from './rig.ts';

afterAll(stopAll);

const TOKEN = 'secret-of-the-server';

/** Starts a server whose endpoint redirects, and a proxy that sends a token to it. */
async function startRedirecting(redirect: (received: Received) => { status: number; location: string } | undefined) {
  const server = await startServer((received) => {
    const to = redirect(received);
    if (to === undefined) answerPlainly(received);
    else received.response.writeHead(to.status, { location: to.location }).end('moved');
  });
  const proxy = await proxyBefore(server.port, {
    bearer_token_config: { token_env_var: 'TOKEN' },
    environment: { TOKEN },
    backend_host_header: 'localhost',
  });
  return { server, proxy };
}

const unlessAt =
  (path: string, to: (received: Received) => string, status = 307) =>
  (received: Received) =>
    received.request.url === path ? undefined : { status, location: to(received) };

describe('a redirect within the origin of the server', () => {
  test.each([
    { reason: '307, a path', status: 307, location: () => '/mcp/' },
    { reason: '308, a path', status: 308, location: () => '/mcp/' },
    {
      reason: 'its address',
      status: 307,
      location: ({ request }: Received) => `http://127.0.0.1:${request.socket.localPort}/mcp/`,
    },
    {
      reason: 'the Host that it was sent',
      status: 307,
      location: ({ request }: Received) => `http://${request.headers.host}/mcp/`,
    },
    { reason: 'a relative path', status: 307, location: () => 'mcp/' },
  ])('is followed with method, body and credentials: $reason', async ({ status, location }) => {
    const { server, proxy } = await startRedirecting(unlessAt('/mcp/', location, status));
    const answered = await post(proxy.url, call('a'));
    expect([answered.status, answered.text]).toEqual([200, expect.stringContaining('\\"method\\":\\"tools/call\\"')]);
    expect(server.received.map(({ request }) => `${request.method} ${request.url}`)).toEqual([
      'POST /mcp',
      'POST /mcp/',
    ]);
    const [first, second] = server.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.request.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(second?.request.headers.host).toBe(first?.request.headers.host);
  });

  test('may be followed by a second redirect, and keeps the query', async () => {
    const steps: Record<string, string> = { '/mcp': '/mcp/', '/mcp/': '/mcp/tenant?a=1' };
    const { server, proxy } = await startRedirecting(({ request }) => {
      const location = steps[request.url ?? ''];
      return location === undefined ? undefined : { status: 307, location };
    });
    expect((await post(proxy.url, call('a'))).status).toBe(200);
    expect(server.received.at(-1)?.request.url).toBe('/mcp/tenant?a=1');
  });

  test('never leads to another host, for any path', async () => {
    const { server, proxy } = await startRedirecting(
      unlessAt('//evil.example/mcp', ({ request }) => `http://${request.headers.host}//evil.example/mcp`),
    );
    expect((await post(proxy.url, call('a'))).status).toBe(200);
    expect(server.received).toHaveLength(2);
  });

  test('is refused after too many redirects', async () => {
    const { server, proxy } = await startRedirecting(() => ({ status: 307, location: '/mcp' }));
    const answered = await post(proxy.url, call('a'));
    expect([answered.status, answered.text]).toEqual([502, expect.stringContaining('at last to /mcp')]);
    expect(server.received).toHaveLength(4);
    await proxy.log.until(/Location http:\/\/127\.0\.0\.1:\d+\/mcp/);
  });

  test.each([301, 302, 303])('is refused with its path if the status is %i', async (status) => {
    const { server, proxy } = await startRedirecting(() => ({ status, location: '/mcp/' }));
    const answered = await post(proxy.url, call('a'));
    expect(answered.status).toBe(502);
    expect(answered.text).toContain(`status ${status}, a redirect to /mcp/: only 307 and 308 are followed`);
    expect(server.received).toHaveLength(1);
  });
});

test.each([
  { reason: 'another port', location: 'http://127.0.0.1:1/mcp' },
  { reason: 'another host', location: '//evil.example/mcp?token=1' },
  { reason: 'another scheme', location: 'https://localhost/mcp' },
  { reason: 'a name and a password', location: 'http://user:pass@evil.example/mcp' },
])('a redirect to another origin is refused, and only the log contains its target: $reason', async ({ location }) => {
  const { server, proxy } = await startRedirecting(() => ({ status: 307, location }));
  const answered = await post(proxy.url, call('a'));
  expect([answered.status, answered.text]).toEqual([502, expect.stringContaining('a redirect to another origin')]);
  expect(answered.text).not.toContain('evil');
  expect(server.received).toHaveLength(1);
  await proxy.log.until(/status 307, Location https?:\/\//);
  expect(proxy.log.text()).not.toMatch(/token=1|user:pass|secret-of-the-server/);
});

test('a Location with user and password is refused', async () => {
  const { server, proxy } = await startRedirecting(({ request }) => ({
    status: 307,
    location: `http://user:pass@${request.headers.host}/mcp/`,
  }));
  expect((await post(proxy.url, call('a'))).status).toBe(502);
  expect(server.received).toHaveLength(1);
});
