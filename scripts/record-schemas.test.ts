// The recording of schemas keeps facts, drops prose, and makes the committed files again from published documents.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUNDLED_KINDS } from '#kubernetes/rules/schemas/kinds.ts';
import { isObject, type Json } from '#std/json.ts';

const SCRIPT = fileURLToPath(new URL('record-schemas.ts', import.meta.url));
const SCHEMAS = fileURLToPath(new URL('../src/kubernetes/rules/schemas', import.meta.url));
const COMMITTED = readdirSync(SCHEMAS).filter((name) => name.endsWith('.json'));

let source = '';
let output = '';

beforeEach(() => {
  source = mkdtempSync(join(tmpdir(), 'skep-openapi-'));
  output = mkdtempSync(join(tmpdir(), 'skep-schemas-'));
});

afterEach(() => {
  for (const directory of [source, output]) rmSync(directory, { recursive: true });
});

function record(): { readonly status: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, source, output], { encoding: 'utf8' });
  return { status, stderr };
}

/** The committed documents as a server publishes them: with paths, prose and types that no one here asks for. */
function publish(names: readonly string[]): void {
  for (const name of names) {
    const { components } = JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8'));
    const [group = '', version = ''] = name.replace('.json', '').split('_');
    const root = group === 'core' ? `/api/${version}` : `/apis/${group}/${version}`;
    const schemas = { ...(verbose(components.schemas) as object), Unused: { type: 'string' } };
    const document = { openapi: '3.0.0', info: {}, paths: { [`${root}/things`]: {} }, components: { schemas } };
    writeFileSync(join(source, `any ${name}`), JSON.stringify(document, null, 2));
  }
}

/** The schemas by name in another order, each with prose at every level; a property may be called description. */
function verbose(schemas: Json): Json {
  if (!isObject(schemas)) return schemas;
  return Object.fromEntries(
    Object.entries(schemas)
      .reverse()
      .map(([name, schema]) => [name, chatty(schema ?? null)]),
  );
}

function chatty(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const reported = { description: 'words', example: { a: 1 }, externalDocs: { url: 'words' }, ...schema };
  return {
    ...reported,
    ...(isObject(schema.properties) ? { properties: verbose(schema.properties) } : {}),
    ...(schema.items === undefined ? {} : { items: chatty(schema.items) }),
    ...(schema.additionalProperties === undefined ? {} : { additionalProperties: chatty(schema.additionalProperties) }),
    ...(Array.isArray(schema.allOf) ? { allOf: schema.allOf.map(chatty) } : {}),
  };
}

test('published documents give the committed files, byte for byte', () => {
  publish(COMMITTED);
  writeFileSync(join(source, 'index.json'), '{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1"}}}');
  writeFileSync(join(source, 'notes.txt'), 'not JSON');
  expect(record()).toEqual({ status: 0, stderr: '' });
  expect(readdirSync(output).sort()).toEqual([...COMMITTED].sort());
  for (const name of COMMITTED) {
    expect(readFileSync(join(output, name), 'utf8')).toBe(readFileSync(join(SCHEMAS, name), 'utf8'));
  }
});

test('there is one committed file for each group-version of the table', () => {
  expect(COMMITTED).toHaveLength(new Set(BUNDLED_KINDS.map(({ apiVersion }) => apiVersion)).size);
});

test('a document that is missing is named', () => {
  publish(COMMITTED.filter((name) => name !== 'apps_v1.json'));
  const { status, stderr } = record();
  expect(status).toBe(1);
  expect(stderr).toBe(`record-schemas: ${source} has no document for apps/v1\n`);
});
