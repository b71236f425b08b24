// The JSON Schemas for editors, held against real manifests by a validator that knows nothing of Kubernetes: what we call
// valid is valid to an editor, and what is misspelt is marked.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { describe, expect, it } from 'vitest';
import { flat, rootField } from '#reconciler/kinds/fields.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { readDocuments } from '#std/yaml/yaml.ts';
import { combinedSchema, editorSchema } from '../../../scripts/editor-schemas.ts';
import { COMBINED } from '../../../scripts/schema-files.ts';
import { readFixtures } from './fixture.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CLUSTER = join(ROOT, 'manifests/fleet/cluster');
const API_GROUP = 'toolhive.stacklok.dev';
const MODELINE = /^# yaml-language-server: \$schema=(\S+)\n/;

function validator(schema: JsonObject): (value: unknown) => readonly string[] {
  // Editors check patterns as ajv does, with the flag u. Times are for them to look at.
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  ajv.addKeyword('deprecationMessage');
  ajv.addFormat('date-time', true);
  const check = ajv.compile(schema);
  return (value) => (check(value) ? [] : (check.errors ?? []).map(sentence));
}

function sentence({ instancePath, message = '', params }: ErrorObject): string {
  const property = params.additionalProperty === undefined ? '' : ` "${params.additionalProperty}"`;
  return `${instancePath} ${message}${property}`;
}

const combined = validator(combinedSchema(KINDS, API_GROUP));

describe.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('the schema of $name', ({ kind }) => {
  const single = validator(editorSchema(kind, API_GROUP, 'v1alpha1'));
  const newer = validator(editorSchema(kind, API_GROUP, 'v1beta1'));
  const valid = readFixtures(kind).filter(({ name }) => !name.startsWith('invalid-'));
  const full = valid.find(({ name }) => name === 'full')?.written ?? {};

  it.each(valid)('takes the fixture $name, alone and among all kinds', ({ written }) => {
    const isNewer = written.apiVersion === `${API_GROUP}/v1beta1`;
    expect((isNewer ? newer : single)(written)).toEqual([]);
    expect((isNewer ? single : newer)(written)).toEqual(['/apiVersion must be equal to constant']);
    expect(combined(written)).toEqual([]);
  });

  it('marks another kind, another version and a field that is misspelt', () => {
    expect(single({ ...full, kind: 'Pod' })).toEqual(['/kind must be equal to constant']);
    expect(single({ ...full, apiVersion: `${API_GROUP}/v1` })).toEqual(['/apiVersion must be equal to constant']);
    expect(single({ ...full, spce: {} })).toEqual([' must NOT have additional properties "spce"']);
    const metadata = { ...(full.metadata as JsonObject), lables: {} };
    expect(combined({ ...full, metadata })).toContain('/metadata must NOT have additional properties "lables"');
  });

  it('marks a field that no object of the spec has, at every depth', () => {
    const places = objectsIn(full.spec ?? null, '/spec', kind);
    expect(places.length).toBeGreaterThan(0);
    for (const { pointer, spec } of places) {
      expect(single({ ...full, spec })).toContain(`${pointer} must NOT have additional properties "misspelt"`);
    }
  });

  it('describes every field, and marks deprecated ones', () => {
    const deprecated = flat(rootField(kind).fields).flatMap((field) => field.deprecated ?? []);
    for (const version of ['v1alpha1', 'v1beta1']) {
      const schema = editorSchema(kind, API_GROUP, version);
      const described = Object.values(schema.properties as JsonObject).flatMap(schemasIn);
      expect(described.filter(({ description }) => typeof description !== 'string')).toEqual([]);
      const marked = deprecated.filter(({ since }) => since === undefined || since === version);
      expect(described.filter((each) => each.deprecated === true)).toHaveLength(marked.length);
    }
  });
});

/** Schemas of fields; not of items and of values of maps, which have no names. */
function schemasIn(schema: Json | undefined): JsonObject[] {
  if (!isObject(schema)) return [];
  const { properties, items, additionalProperties } = schema;
  const below = isObject(properties) && properties.managedFields === undefined ? Object.values(properties) : [];
  const held = [items, additionalProperties].flatMap((each) => schemasIn(each).slice(1));
  return [schema, ...below.flatMap(schemasIn), ...held];
}

/** Each object inside with a field more, where the schema says what fields it has. */
function objectsIn(value: Json, pointer: string, kind: Kind): { pointer: string; spec: Json }[] {
  const objects = flat(rootField(kind).fields).filter(({ type }) => /^object|\{\}$/.test(type));
  const open = new Set(objects.filter(({ leaf }) => leaf).map(({ path }) => path));
  const maps = new Set(objects.filter(({ leaf, type }) => !leaf && type.endsWith('{}')).map(({ path }) => path));
  const walk = (
    inner: Json,
    at: string,
    path: string,
    rebuild: (next: Json) => Json,
  ): { pointer: string; spec: Json }[] => {
    if (Array.isArray(inner)) {
      return inner.flatMap((item, index) =>
        walk(item, `${at}/${index}`, `${path}[]`, (next) => rebuild(inner.with(index, next))),
      );
    }
    if (!isObject(inner) || open.has(path)) return [];
    const below = Object.entries(inner).flatMap(([key, child]) =>
      walk(child ?? null, `${at}/${key}`, maps.has(path) ? `${path}{}` : `${path}.${key}`, (next) =>
        rebuild({ ...inner, [key]: next }),
      ),
    );
    // A map takes every key; what its values are is described.
    if (maps.has(path)) return below;
    return [{ pointer: at, spec: rebuild({ ...inner, misspelt: 1 }) }, ...below];
  };
  return walk(value, pointer, 'spec', (next) => next);
}

describe('the sample repository', () => {
  // `skep lock` writes locks: no author edits them.
  const files = readdirSync(CLUSTER, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.yaml') && !path.endsWith('.tools.yaml'),
  );

  it.each(files.map((file) => ({ file })))('$file names a schema that is there, and keeps it', ({ file }) => {
    const path = join(CLUSTER, file);
    const text = readFileSync(path, 'utf8');
    const schema = MODELINE.exec(text)?.[1] ?? 'no "# yaml-language-server: $schema=..." in its first line';
    const target = join(dirname(path), schema);
    expect(existsSync(target), `${file}: ${schema}`).toBe(true);
    const check = validator(JSON.parse(readFileSync(target, 'utf8')));
    for (const { value } of readDocuments(text, file)) expect(check(value)).toEqual([]);
  });

  it('would show a misspelt field of the first server in an editor', () => {
    const text = readFileSync(join(CLUSTER, 'docs/notes.yaml'), 'utf8').replace('groupRef', 'gruopRef');
    expect(combined(readDocuments(text, '')[0]?.value)).toContain(
      '/spec must NOT have additional properties "gruopRef"',
    );
  });
});

describe('the schema of all manifests', () => {
  it('is the file that the documentation names', () => {
    const text = readFileSync(join(ROOT, 'docs/schemas', COMBINED), 'utf8');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(combinedSchema(KINDS, API_GROUP))));
  });

  it('lets other API groups pass, and marks a kind that ours does not have', () => {
    expect(combined({ apiVersion: 'v1', kind: 'ConfigMap', anything: 1 })).toEqual([]);
    const unknown = { apiVersion: `${API_GROUP}/v1alpha1`, kind: 'MCPServr', metadata: { name: 'x' } };
    expect(combined(unknown)).toContain('/kind must be equal to one of the allowed values');
  });
});
