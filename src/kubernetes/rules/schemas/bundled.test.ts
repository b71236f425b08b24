// Tests that the bundled documents contain all kinds of the table, with all referenced schemas and without
// descriptions.

import { describe, expect, test } from 'vitest';
import { canonicalJson, isObject, type Json } from '#std/json.ts';
import { groupOf } from '../object.ts';
import { rootType } from '../openapi.ts';
import { bundledKinds, bundledSchema } from './bundled.ts';

const VERSIONS = [...new Set(bundledKinds().map(({ apiVersion }) => apiVersion))];

describe('bundled schemas', () => {
  test.each(bundledKinds())('$apiVersion $kind has a root type with metadata', ({ apiVersion, kind }) => {
    const document = bundledSchema(apiVersion);
    const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
    const type = document && rootType(document, { group: groupOf(apiVersion), version, kind });
    expect(type?.storage).toBe('struct');
    expect([...(type?.map?.fields.keys() ?? [])]).toContain('metadata');
  });

  test.each(VERSIONS)('%s contains the targets of all its references', (apiVersion) => {
    const schemas = bundledSchema(apiVersion)?.components.schemas ?? {};
    const missing = strings(schemas as Json, '$ref')
      .map((target) => target.slice('#/components/schemas/'.length))
      .filter((name) => schemas[name] === undefined);
    expect(missing).toEqual([]);
  });

  test.each(VERSIONS)('%s contains no descriptions', (apiVersion) => {
    const schemas = bundledSchema(apiVersion)?.components.schemas ?? {};
    expect(strings(schemas as Json, 'description')).toEqual([]);
    expect(strings(schemas as Json, 'example')).toEqual([]);
  });

  test('a group-version that is not bundled has no document', () => {
    expect(bundledSchema('apps/v1beta1')).toBeUndefined();
  });

  test('each plural, singular and short name belongs to one kind of its group', () => {
    const names = bundledKinds().flatMap((kind) =>
      [...new Set([kind.plural, kind.singular, ...kind.shortNames])].map(
        (name) => `${groupOf(kind.apiVersion)}/${name}`,
      ),
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('shared types are equal in all documents', () => {
    const texts = new Map<string, string>();
    const differing: string[] = [];
    for (const apiVersion of VERSIONS) {
      for (const [name, schema] of Object.entries(bundledSchema(apiVersion)?.components.schemas ?? {})) {
        const text = canonicalJson(schema);
        if ((texts.get(name) ?? text) !== text) differing.push(name);
        texts.set(name, text);
      }
    }
    expect(differing).toEqual([]);
  });
});

/** Returns every string under the key. Ignores properties with this name, which are objects. */
function strings(value: Json | undefined, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => strings(item, name));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === name && typeof child === 'string' ? [child] : strings(child, name),
  );
}
