// The URLs of the servers that run on this machine: official clients reach them through one listener beside another
// service, and whoever has no business there does not.

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFront, type Front, type FrontServer } from '#hosts/dev/front/front.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { get, runProxy, send, type TestedProxy } from '../../gateway/proxy/world.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { type RunningServer, startFixture } from '../../harness/mcp-servers.ts';

const TOKEN = 'the-token-of-this-start';
const CLOSED_PORT = 1;

let origin: string;
let front: Front;
let listener: Server;
let issuer: Issuer;
let backends: readonly RunningServer[];
let proxies: readonly TestedProxy[];

beforeAll(async () => {
  issuer = await startIssuer();
  const [web, events] = await Promise.all([
    startFixture({ transport: 'http', eras: 'session' }),
    startFixture({ transport: 'sse', eras: 'session' }),
  ]);
  backends = [web, events];
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const targetOf = ({ backend: { url } }: RunningServer) => ({
    target_host: url.hostname,
    target_port: Number(url.port),
  });
  const oidc = {
    issuer: issuer.url,
    resource_url: `${origin}/mcp/docs/secured`,
    scopes: [],
    insecure_allow_http: true,
  };
  const addresses = { jwks_allow_private_ip: true, protected_resource_allow_private_ip: true };
  proxies = await Promise.all([
    runProxy({ ...targetOf(web), trust_proxy_headers: true }),
    runProxy({ ...targetOf(events), transport: 'sse', trust_proxy_headers: true }),
    runProxy({ ...targetOf(web), trust_proxy_headers: true, oidc_config: { ...oidc, ...addresses } }),
  ]);
  const [first, second, third] = proxies.map((proxy) => Number(new URL(proxy.origin).port));
  const servers: FrontServer[] = [
    {
      namespace: 'ops',
      name: 'web',
      transport: 'streamable-http',
      ready: true,
      auth: 'token',

      port: first ?? 0,
    },
    {
      namespace: 'docs',
      name: 'events',
      transport: 'sse',
      ready: true,
      auth: 'token',

      port: second ?? 0,
    },
    {
      namespace: 'docs',
      name: 'secured',
      transport: 'streamable-http',
      ready: true,
      auth: 'oidc',

      port: third ?? 0,
    },
    {
      namespace: 'docs',
      name: 'away',
      transport: 'streamable-http',
      ready: false,
      auth: 'token',

      port: CLOSED_PORT,
    },
  ];
  front = createFront({ origin: () => origin, token: TOKEN, servers: async () => servers });
  listener = createServer((incoming, response) => {
    if (!front.serve(incoming, response)) response.end('the catalogue');
  });
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
  expect((listener.address() as AddressInfo).port).toBe(port);
});

afterAll(async () => {
  listener?.closeAllConnections();
  listener?.close();
  front?.close();
  await Promise.all([...(proxies ?? []), ...(backends ?? [])].map((each) => each.stop()));
  await issuer?.close();
});

async function toolsAt(path: string, token: string): Promise<readonly string[]> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const url = new URL(path, origin);
  const client = new Client({ name: 'front', version: '1.0.0' });
  await client.connect(
    path.endsWith('events')
      ? new SSEClientTransport(url, { requestInit })
      : new StreamableHTTPClientTransport(url, { requestInit }),
  );
  try {
    await client.callTool({ name: 'test_simple_text', arguments: {} });
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

test('it lists the servers that run here, each with its URL, and gives the token to nobody', async () => {
  const { status, json, text } = await get(`${origin}/mcp`);
  expect(status).toBe(200);
  expect(text).not.toContain(TOKEN);
  expect(json).toMatchObject({ version: 1, authorised: false });
  expect(json.servers.map(({ namespace, name }: FrontServer) => `${namespace}/${name}`)).toEqual([
    ...['docs/away', 'docs/events', 'docs/secured', 'ops/web'],
  ]);
  expect(json.servers[3]).toEqual({
    ...{ namespace: 'ops', name: 'web', url: `${origin}/mcp/ops/web` },
    ...{ transport: 'streamable-http', ready: true, auth: 'token' },
  });
});

test.each([
  { sent: TOKEN, authorised: true },
  { sent: 'of-another-start', authorised: false },
])('whoever asks with the token $sent hears whether it is the one of this start', async ({ sent, authorised }) => {
  const answer = await fetch(`${origin}/mcp`, { headers: { authorization: `Bearer ${sent}` } });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ authorised });
  expect(text).not.toContain(TOKEN);
});

test.each(['/mcp/ops/web', '/mcp/docs/events'])('an official client calls a tool at %s', async (path) => {
  expect(await toolsAt(path, TOKEN)).toContain('test_simple_text');
});

test('a server with an issuer of its own takes only its tokens, and says where they are from', async () => {
  const url = `${origin}/mcp/docs/secured`;
  const refused = await send({ url }, 'tools/list', {}, { authorization: `Bearer ${TOKEN}` });
  expect(refused.status).toBe(401);
  const [, document = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  expect(document).toBe(`${origin}/.well-known/oauth-protected-resource/mcp/docs/secured`);
  const { json } = await get(document);
  expect(json).toMatchObject({ resource: url, authorization_servers: [issuer.url] });
  expect(await toolsAt('/mcp/docs/secured', await issuer.token('jwt', url))).toContain('test_simple_text');
});

interface Refused {
  readonly reason: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
}

const AUTHORISED = { authorization: `Bearer ${TOKEN}` };

test.each<Refused>([
  { reason: 'a caller without the token', headers: {}, status: 401 },
  { reason: 'a caller with another token', headers: { authorization: 'Bearer another' }, status: 401 },
  { reason: 'a page of another origin', headers: { ...AUTHORISED, origin: 'https://evil.example.com' }, status: 403 },
  { reason: 'a name that leads here by DNS', headers: { ...AUTHORISED, host: 'evil.example.com' }, status: 403 },
  {
    reason: 'a page of another site that asks what runs',
    path: '/mcp',
    headers: { 'sec-fetch-site': 'cross-site' },
    status: 403,
  },
  { reason: 'a server that is not there', path: '/mcp/docs/nothing', headers: AUTHORISED, status: 404 },
  { reason: 'a server whose proxy does not answer', path: '/mcp/docs/away', headers: AUTHORISED, status: 503 },
])('it refuses $reason with $status', async ({ path = '/mcp/ops/web', headers, status }) => {
  expect(await statusOf(path, headers)).toBe(status);
});

/** `fetch` sets Host and Origin itself. */
function statusOf(path: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
}

test('everything else is for the service beside it', async () => {
  expect((await get(`${origin}/mcpanything`)).text).toBe('the catalogue');
  expect((await get(`${origin}/.well-known/oauth-protected-resource`)).text).toBe('the catalogue');
});
