// SQL, HTML and worse in every text that a source or a client can choose: what is stored comes back as it was, what is
// asked is data, and nothing of it is a fault of the service.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { KEY, openService, type Service } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service.close());

const JANUARY = '2026-01-01T00:00:00.000Z';

const TEXTS = [
  "'; drop table catalogue_entry; --",
  "' or '1'='1",
  '$1 $2 $$ $body$',
  "E'\\\\' \\x27 %27",
  '%_\\%',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</script><!-- ]]>',
  "javascript:alert('1')",
  '{{7*7}} #{7*7} <%= 7*7 %>',
  '__proto__',
  'constructor',
  'null',
  '‮ right to left',
  '\u2028\u2029 line separators',
  '💣'.repeat(40),
  'ﬀ İ ß Σς',
  'é decomposed: e\u0301',
] as const;

function hostileEntry(text: string, index: number): CatalogueEntry {
  const version = `1.0.${index}+${text}`;
  const document = {
    name: `io.acme/hostile-${index}`,
    description: text,
    title: text,
    version,
    [text]: text,
    packages: [{ registryType: text, identifier: text, transport: { type: 'stdio' } }],
    _meta: { [text]: { [text]: [text] } },
  };
  return {
    name: document.name,
    version,
    document: Object.fromEntries(Object.entries(document)),
    title: text,
    description: text,
    tags: [text],
    status: 'deprecated',
    statusMessage: text,
    tier: text,
    transports: [text],
    images: [text],
    publishedAt: JANUARY,
  };
}

test('every text comes back as it was, and is found by itself', async () => {
  const entries = TEXTS.map(hostileEntry);
  await service.fill(entries, JANUARY);
  for (const entry of entries) {
    const text = entry.description;
    const path = `/tools/v0.1/servers/${encodeURIComponent(entry.name)}/versions/${encodeURIComponent(entry.version)}`;
    const { status, json, headers } = await service.get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(JSON.stringify(json.server)).toBe(JSON.stringify(entry.document));
    expect(json._meta['io.modelcontextprotocol.registry/official'].statusMessage).toBe(text);
    for (const parameter of ['search', 'version', 'x-tag', 'x-tier', 'x-transport']) {
      const value = encodeURIComponent(parameter === 'version' ? entry.version : text);
      const found = await service.get(`/tools/v0.1/servers?${parameter}=${value}&limit=100`);
      // A line separator is no control character; text that is one is refused, in words.
      expect({ parameter, text, status: found.status }).toEqual({ parameter, text, status: 200 });
      const names = found.json.servers.map(({ server }: { server: { name: string } }) => server.name);
      expect(names).toContain(entry.name);
    }
  }
  const { json } = await service.get('/tools/v0.1/x/dev.skep/facets');
  expect(json.tags).toHaveLength(TEXTS.length);
  expect(await service.sql('select count(*)::int as rows from catalogue_entry')).toEqual([{ rows: TEXTS.length }]);
});

const PLACES = [
  (text: string) => `/tools/v0.1/servers?cursor=${text}`,
  (text: string) => `/tools/v0.1/servers?limit=${text}`,
  (text: string) => `/tools/v0.1/servers?updated_since=${text}`,
  (text: string) => `/tools/v0.1/servers?include_deleted=${text}`,
  (text: string) => `/tools/v0.1/servers?x-status=${text}`,
  (text: string) => `/tools/v0.1/servers?${text}=1`,
  (text: string) => `/${text}/v0.1/servers`,
  (text: string) => `/tools/v0.1/servers/${text}/versions`,
  (text: string) => `/tools/v0.1/servers/${text}/versions/${text}`,
  (text: string) => `/tools/v0.1/servers/io.acme%2Fhostile-0/versions/${text}`,
  (text: string) => `/extension/v0/registries/${text}`,
  (text: string) => `/${text}`,
];

test('in every other place it is no fault of the service', async () => {
  const texts = [...TEXTS, '\0', '\r\nx-evil: 1', '\ud800', '../../etc/passwd', 'a'.repeat(5000)];
  for (const text of texts) {
    for (const place of PLACES) {
      const url = place(text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80');
      const { status, headers } = await service.get(url);
      expect([200, 400, 404, 414], `${status} for ${url}`).toContain(status);
      expect(headers['x-evil']).toBeUndefined();
    }
  }
  expect(service.logs()).not.toContain('internal-error');
  const other = await service.store.list({ ...KEY, source: 'empty' }, { limit: 100, includeDeleted: true });
  expect(other.entries).toEqual([]);
});
