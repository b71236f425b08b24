// A client that knows nothing but the address of a registry finds its way to the data: challenge, metadata, provider, token,
// pages. Everything real and over HTTP.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { serve } from './serve.ts';
import { openService, type Service } from './service.ts';

let issuer: Issuer;
let service: Service;
let base: string;

beforeAll(async () => {
  issuer = await startIssuer();
  base = await freeAddress();
  service = await openService(`auth:
  oauth:
    resourceUrl: ${base}
    providers:
      - {name: main, issuerUrl: "${issuer.url}", audience: "${base}", allowPrivateIP: true}`);
  await service.app.listen({ host: '127.0.0.1', port: Number(new URL(base).port) });
  await service.fill(
    Array.from({ length: 25 }, (_, index) => {
      const name = `io.acme/server-${String(index).padStart(2, '0')}`;
      const document = { name, description: 'x', version: '1.0.0' };
      return { ...document, document, tags: [], status: 'active', transports: [], images: [] };
    }),
    '2026-01-01T00:00:00.000Z',
  );
});

afterAll(async () => {
  await service.close();
  await issuer.close();
});

/** The service must know its own address before it listens. */
async function freeAddress(): Promise<string> {
  const endpoint = await serve((_request, response) => response.end());
  await endpoint.close();
  return endpoint.url;
}

async function getJson(url: string, token?: string) {
  const response = await fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

test('from the challenge to the last page', async () => {
  const refused = await getJson(`${base}/tools/v0.1/servers`);
  expect(refused).toMatchObject({ status: 401, body: { error: 'missing or malformed authorization header' } });
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];

  const metadata = await getJson(metadataUrl);
  expect(metadata.body).toEqual({
    resource: base,
    authorization_servers: [issuer.url],
    scopes_supported: ['mcp-registry:read', 'mcp-registry:write'],
    bearer_methods_supported: ['header'],
  });
  expect(metadata.headers.get('access-control-allow-origin')).toBe('*');

  const token = await issuer.token('jwt', metadata.body.resource);
  const names: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const page = await getJson(`${base}/tools/v0.1/servers?limit=10&cursor=${next}`, token);
    expect(page.status).toBe(200);
    expect(page.headers.get('cache-control')).toBe('private, no-cache');
    names.push(...page.body.servers.map(({ server }: { server: { name: string } }) => server.name));
    next = page.body.metadata.nextCursor;
  }
  expect(names).toHaveLength(25);

  const path = `${base}/tools/v0.1/servers/${encodeURIComponent(names.at(-1) ?? '')}/versions/latest`;
  expect((await getJson(path, token)).body.server.name).toBe('io.acme/server-24');
  expect((await getJson(path, `${token}x`)).body).toEqual({ error: 'token validation failed' });
});

test('without a token nothing but what is public is said, not even whether a registry exists', async () => {
  const known = await getJson(`${base}/tools/v0.1/servers`);
  const unknown = await getJson(`${base}/nobody/v0.1/servers`);
  expect(unknown.body).toEqual(known.body);
  expect(unknown.status).toBe(known.status);
});

test('a browser may ask before it has a token, and may read the refusal', async () => {
  const preflight = await fetch(`${base}/tools/v0.1/servers`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
  const refused = await fetch(`${base}/tools/v0.1/servers`, { headers: { origin: 'https://app.example' } });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  expect(refused.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
});

test('an entity tag does not open the door', async () => {
  const token = await issuer.token('jwt', base);
  const { headers } = await getJson(`${base}/tools/v0.1/servers`, token);
  const response = await fetch(`${base}/tools/v0.1/servers`, {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  });
  expect(response.status).toBe(401);
});

test('in mode oauth the OpenAPI document says where a token is needed', async () => {
  const { body } = await getJson(`${base}/openapi.json`, await issuer.token('jwt', base));
  expect(body.security).toEqual([{ bearer: [] }]);
  expect(body.paths['/health'].get.security).toEqual([]);
  expect(body.paths['/.well-known/oauth-protected-resource'].get.security).toEqual([]);
  expect(body.paths['/{registry}/v0.1/servers'].get.security).toBeUndefined();
  expect(Object.keys(body.paths['/{registry}/v0.1/servers'].get.responses)).toContain('401');
});
