// What `skep validate` says about encrypted documents, with their key and without: where it stands in the file, and never a
// value.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { load } from '#reconciler/run/read/load.ts';
import { unsealFiles } from '#reconciler/run/read/unseal.ts';
import { type ManifestValidation, validate } from '#reconciler/run/validate.ts';
import type { JsonObject } from '#std/json.ts';
import { readAgeKeys } from '#std/sops/age-keys.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import { sealed, testKey } from '../../harness/sops.ts';

const key = await testKey();
const VALUE = 'hunter2 "quoted"';

async function keys(): Promise<SopsKeys> {
  const read = await readAgeKeys(key.identity);
  return read.ok ? { type: 'keys', keys: read.keys } : { type: 'none' };
}

async function checked(text: string, by: () => Promise<SopsKeys>): Promise<ManifestValidation> {
  const documents = await unsealFiles([{ path: 'a.json', oid: '1', text }], by);
  return validate({ documents, kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' });
}

function secret(more: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'api', namespace: 'tools', ...metadata }, ...more };
}

const SERVER = { image: VALUE, transport: VALUE };
const MCP = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'MCPServer',
  metadata: { name: 'api', namespace: 'tools' },
};
const LIST = {
  apiVersion: 'v1',
  kind: 'List',
  items: [secret({ stringData: { token: VALUE } }), { ...MCP, spec: SERVER }],
};

/** `with` and `without` the key: codes with their lines. */
const ROWS: readonly {
  readonly of: string;
  readonly object: JsonObject;
  readonly rule?: string;
  readonly without: readonly string[];
  readonly with: readonly string[];
}[] = [
  { of: 'a Secret', object: secret({ stringData: { token: VALUE } }), without: [], with: [] },
  {
    of: 'a value that is no base64',
    object: secret({ data: { token: VALUE } }),
    without: [],
    with: ['schema-format 9'],
  },
  {
    of: 'a field that does not exist',
    object: secret({ dota: {} }),
    rule: 'x',
    without: ['schema-unknown-field 8'],
    with: ['schema-unknown-field 8'],
  },
  {
    of: 'a label that is none',
    object: secret({}, { labels: { a: VALUE } }),
    rule: 'labels',
    without: [],
    with: ['invalid-label 8'],
  },
  {
    of: 'a whole document',
    object: secret({ stringData: { token: VALUE } }),
    rule: '.',
    without: ['sops-not-checked 11'],
    with: [],
  },
  {
    of: 'a name that is none',
    object: secret({}, { name: VALUE }),
    rule: '.',
    without: ['sops-not-checked 8'],
    with: ['invalid-name 5'],
  },
  {
    of: 'another kind',
    object: { ...MCP, spec: SERVER },
    rule: '^spec$',
    without: ['sops-outside-secret 9'],
    with: ['sops-outside-secret 9'],
  },
  {
    of: 'items of a list',
    object: LIST,
    rule: 'stringData|spec',
    without: ['sops-outside-secret 24'],
    with: ['sops-outside-secret 24'],
  },
];

test.each(ROWS)('$of', async ({ object, rule, without, with: opened }) => {
  const text = await sealed(object, key, rule);
  const results = [await checked(text, async () => ({ type: 'none' })), await checked(text, keys)];
  const reported = results.map(({ problems }) => problems.map(({ code, place }) => `${code} ${place?.line}`));
  expect(reported).toEqual([without, opened]);
  expect(JSON.stringify(results)).not.toMatch(/hunter2|AES256/);
});

test('items of a list that were comments to SOPS do not move the places of the others', async () => {
  const text = readFileSync(new URL('documents/whole.sealed.yaml', import.meta.url), 'utf8');
  const read = await readAgeKeys(readFileSync(new URL('TEST-ONLY-age-keys.txt', import.meta.url), 'utf8'));
  const by = async (): Promise<SopsKeys> => (read.ok ? { type: 'keys', keys: read.keys } : { type: 'none' });
  const documents = await unsealFiles([{ path: 'a.yaml', oid: '1', text }], by);
  const { resources } = load({ source: 'a', documents, kinds: KINDS, apiGroup: 'example.com', builtin: bundledSchema });
  const kept = resources.find(({ id }) => id.name === 'kept');
  const line = text.split('\n').findIndex((each) => each.includes('left_unencrypted')) + 1;
  expect(kept?.place('/stringData/left_unencrypted')).toEqual({ file: 'a.yaml', line, column: 27 });
});
