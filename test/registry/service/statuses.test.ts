// Every status that the OpenAPI document of the service names, of every path, really given by a request; and no answer with
// one that it does not name. The document is read from the service itself, so a new path or status is walked as well.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { type Issuer, startIssuer } from '../../harness/issuer.ts';
import { AUDIENCE } from './gate.ts';
import { openService, type Service } from './service.ts';

let issuer: Issuer;
let service: Service;
let hurried: Service;
let reader: string;
let writer: string;

const JANUARY = '2026-01-01T00:00:00.000Z';
const ENTRY: CatalogueEntry = {
  name: 'io.acme/alpha',
  version: '1.0.0',
  document: { name: 'io.acme/alpha', description: 'x', version: '1.0.0' },
  description: 'x',
  tags: [],
  status: 'active',
  transports: [],
  images: [],
};

beforeAll(async () => {
  issuer = await startIssuer();
  const auth = `auth: {oauth: {resourceUrl: "https://r.example", enforceScopes: true, providers: [{name: main, issuerUrl: "${issuer.url}", audience: "${AUDIENCE}", allowPrivateIP: true}]}}`;
  service = await openService(auth);
  hurried = await openService('auth: {mode: anonymous}', 'limits: {requestsPerMinute: 1}');
  await service.fill([ENTRY], JANUARY);
  reader = await token('mcp-registry:read');
  writer = await token('mcp-registry:write');
  for (let index = 0; index < 10; index += 1) await hurried.get('/tools/v0.1/servers');
});

afterAll(async () => {
  await Promise.all([service.close(), hurried.close()]);
  await issuer.close();
});

function token(scope: string): Promise<string> {
  return issuer.sign({ iss: issuer.url, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 3600, scope });
}

function urlOf(template: string, registry = 'tools'): string {
  return template
    .replace('{registry}', registry)
    .replace('{server}', 'io.acme%2Falpha')
    .replace('{version}', '1.0.0')
    .replace('{list}', 'vscode.json')
    .replace('{*}', '');
}

function bearer(method: string): Record<string, string> {
  return { authorization: `Bearer ${method === 'get' ? reader : writer}` };
}

interface Answered {
  readonly status: number;
}

/** Asks in the way that is answered with the status. */
async function provoke(method: 'get' | 'post', template: string, status: string): Promise<Answered> {
  const ask = (url: string, headers = bearer(method), asked = service) =>
    asked.send({ method: method === 'get' ? 'GET' : 'POST', url, headers });
  switch (status) {
    case '200':
    case '202':
      return ask(urlOf(template));
    case '304': {
      const { headers } = await ask(urlOf(template));
      return ask(urlOf(template), { ...bearer(method), 'if-none-match': headers.etag ?? '' });
    }
    case '400':
      return ask(`${urlOf(template)}?include_deleted=maybe`);
    case '401':
      return ask(urlOf(template), {});
    case '403':
      return ask(urlOf(template), { authorization: `Bearer ${method === 'get' ? writer : reader}` });
    case '404':
      return ask(urlOf(template, 'nobody'));
    case '409':
      return ask(urlOf(template, 'nothing'));
    case '429':
      return ask(urlOf(template), {}, hurried);
    case '503': {
      await service.loseDatabase();
      try {
        return await ask(urlOf(template));
      } finally {
        await service.restoreDatabase();
      }
    }
    default:
      throw new Error(`nobody knows how to provoke ${status}`);
  }
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
}

test('every documented status of every path is given', async () => {
  const document: OpenApi = (await service.get('/openapi.json', bearer('get'))).json;
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => status !== 'default')
        .map((status) => ({ path, method, status })),
    ),
  );
  const given = new Set<string>();
  for (const { path, method, status } of documented) {
    if (method !== 'get' && method !== 'post') throw new Error(`${method} ${path} is not expected`);
    const answer = await provoke(method, path, status);
    expect({ path, method, status: String(answer.status) }).toEqual({ path, method, status });
    given.add(status);
  }
  expect([...given].toSorted()).toEqual(['200', '202', '304', '400', '401', '403', '404', '409', '429', '503']);
  expect(documented.length).toBeGreaterThan(80);
});

test('405, 413 and 431 are documented as any other failure', async () => {
  const answers = [
    await service.send({ method: 'PUT', url: '/tools/v0.1/servers', headers: bearer('post') }),
    await service.send({
      method: 'POST',
      url: '/extension/v0/registries/tools/sync',
      headers: { ...bearer('post'), 'content-type': 'text/plain' },
      payload: 'x'.repeat(70_000),
    }),
  ];
  expect(answers.map(({ status, json }) => ({ status, error: typeof json.error }))).toEqual([
    { status: 405, error: 'string' },
    { status: 413, error: 'string' },
  ]);
});
