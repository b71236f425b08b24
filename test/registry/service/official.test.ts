// Every answer of the read side, held against what the official registry API says of it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { type OfficialAnswer, officialSchema } from './official-schema.ts';
import { openService, type Service } from './service.ts';

const JANUARY = '2026-01-01T00:00:00.000Z';

/** One of everything that the official schema has. */
const FULL = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'io.acme/full',
  description: 'Has one of everything',
  title: 'Full',
  version: '1.0.0-rc.1',
  websiteUrl: 'https://acme.example/full',
  repository: { url: 'https://git.acme.example/full', source: 'gitlab', id: '7', subfolder: 'server' },
  icons: [{ src: 'https://acme.example/icon.svg', mimeType: 'image/svg+xml', sizes: ['48x48', 'any'], theme: 'dark' }],
  packages: [
    {
      registryType: 'npm',
      registryBaseUrl: 'https://registry.npmjs.org',
      identifier: '@acme/full',
      version: '1.0.0-rc.1',
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      runtimeArguments: [{ type: 'named', name: '--port', value: '{port}', variables: { port: { format: 'number' } } }],
      packageArguments: [{ type: 'positional', valueHint: 'folder', format: 'filepath', isRepeated: true }],
      environmentVariables: [{ name: 'KEY', isSecret: true, isRequired: true, choices: ['a', 'b'], placeholder: 'c' }],
    },
    {
      registryType: 'mcpb',
      identifier: 'https://acme.example/full.mcpb',
      fileSha256: 'a'.repeat(64),
      transport: { type: 'sse', url: '{base}/sse' },
    },
    {
      registryType: 'oci',
      identifier: 'acme.example/full:1',
      transport: { type: 'streamable-http', url: 'http://localhost:1' },
    },
  ],
  remotes: [
    {
      type: 'streamable-http',
      url: 'https://{tenant}.acme.example/mcp',
      variables: { tenant: { description: 'Which one', default: 'a', isRequired: true } },
      headers: [{ name: 'Authorization', value: 'Bearer {token}', variables: { token: { isSecret: true } } }],
    },
    { type: 'sse', url: 'https://acme.example/sse' },
  ],
  _meta: {
    'io.modelcontextprotocol.registry/publisher-provided': { 'io.acme': { build: { tags: ['time'], tier: 'Gold' } } },
  },
};

const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** As another registry has them: with a status that someone gave a reason for, and one that is gone. */
const FEED = {
  servers: [
    { server: FULL, _meta: { [OFFICIAL]: { status: 'active', publishedAt: JANUARY, isLatest: true } } },
    {
      server: { ...FULL, version: '0.9.0' },
      _meta: { [OFFICIAL]: { status: 'deprecated', statusMessage: 'Old', statusChangedAt: JANUARY } },
    },
    { server: { ...FULL, name: 'io.acme/gone' }, _meta: { [OFFICIAL]: { status: 'deleted' } } },
    { server: { name: 'io.acme/least', description: 'The least', version: '1' } },
  ],
  metadata: { count: 4 },
};

const SAMPLE = fileURLToPath(new URL('../../../manifests/fleet/registry.json', import.meta.url));

let service: Service;
const validators = new Map<OfficialAnswer, ValidateFunction>();

function entriesOf(format: 'upstream' | 'toolhive', text: string): readonly CatalogueEntry[] {
  const parsed = parseRegistry(format, text, 'registry.json');
  if (!parsed.ok) throw new Error(parsed.problem.message);
  expect(parsed.rejected).toEqual([]);
  return parsed.entries;
}

beforeAll(async () => {
  service = await openService();
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    allowUnionTypes: true,
    formats: { 'date-time': isTime, uri: isUri },
  });
  for (const answer of ['serverList', 'serverResponse', 'error'] as const) {
    validators.set(answer, ajv.compile(officialSchema(answer)));
  }
  await service.fill(
    [...entriesOf('upstream', JSON.stringify(FEED)), ...entriesOf('toolhive', readFileSync(SAMPLE, 'utf8'))],
    JANUARY,
  );
});

afterAll(() => service.close());

/** RFC 3339 in the form that every reader takes. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

function isUri(text: string): boolean {
  return URL.canParse(text);
}

async function check(url: string, status: number, answer: OfficialAnswer): Promise<void> {
  const { status: found, json, headers } = await service.get(url);
  expect({ url, status: found, type: headers['content-type'] }).toEqual({
    url,
    status,
    type: 'application/json; charset=utf-8',
  });
  const validate = validators.get(answer);
  expect(validate?.(json) === true ? [] : validate?.errors).toEqual([]);
}

describe.each(['/tools', '/registry/tools'])('below %s', (base) => {
  test.each([
    '',
    '?limit=1',
    '?limit=100',
    '?search=acme',
    '?search=nothing-has-this',
    '?version=latest',
    '?version=1.0.0-rc.1',
    '?updated_since=2025-08-07T13:15:04.280Z',
    '?include_deleted=true',
    '?x-tag=time&x-tier=gold',
  ])('the list %s', (query) => check(`${base}/v0.1/servers${query}`, 200, 'serverList'));

  test('every page', async () => {
    let next: string | undefined = '';
    for (let pages = 0; next !== undefined; pages += 1) {
      const url: string = `${base}/v0.1/servers?limit=7&cursor=${next}`;
      await check(url, 200, 'serverList');
      next = (await service.get(url)).json.metadata.nextCursor;
      expect(pages).toBeLessThan(100);
    }
  });

  test('the versions, and each version, of every server', async () => {
    const { json } = await service.get(`${base}/v0.1/servers?limit=100&include_deleted=true`);
    expect(json.servers.length).toBeGreaterThan(10);
    for (const { server } of json.servers) {
      const path = `${base}/v0.1/servers/${encodeURIComponent(server.name)}/versions`;
      await check(`${path}?include_deleted=true`, 200, 'serverList');
      await check(`${path}/${encodeURIComponent(server.version)}?include_deleted=true`, 200, 'serverResponse');
    }
    await check(`${base}/v0.1/servers/io.acme%2Ffull/versions/latest`, 200, 'serverResponse');
  });

  test.each([
    { path: 'servers?limit=0', status: 400 },
    { path: 'servers?cursor=x', status: 400 },
    { path: 'servers?updated_since=x', status: 400 },
    { path: 'servers/io.acme%2Fnobody/versions', status: 404 },
    { path: 'servers/io.acme%2Fnobody/versions/latest', status: 404 },
    { path: 'servers/io.acme%2Ffull/versions/9', status: 404 },
    { path: 'servers/io.acme%2Fgone/versions', status: 404 },
    { path: 'nothing', status: 404 },
  ])('the error of $path', ({ path, status }) => check(`${base}/v0.1/${path}`, status, 'error'));
});

test('what the schema would not take is noticed', () => {
  const validate = validators.get('serverList');
  const official = {
    status: 'active',
    statusChangedAt: JANUARY,
    publishedAt: JANUARY,
    updatedAt: JANUARY,
    isLatest: true,
  };
  const answer = (change: object, meta: object = {}) => ({
    servers: [{ server: { ...FULL, ...change }, _meta: { [OFFICIAL]: { ...official, ...meta } } }],
    metadata: { count: 1 },
  });
  expect(validate?.(answer({}))).toBe(true);
  expect(validate?.(answer({ name: 'no-namespace' }))).toBe(false);
  expect(validate?.(answer({ packages: [{ registryType: 'npm' }] }))).toBe(false);
  expect(validate?.(answer({}, { updatedAt: 'yesterday' }))).toBe(false);
  expect(validate?.(answer({}, { extra: 1 }))).toBe(false);
});
