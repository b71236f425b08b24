import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#std/json.ts';
import { crd, structuralSchema } from './crd.ts';
import { fieldsOf } from './fields.ts';
import { KINDS } from './index.ts';

/** Keywords that apiextensions.k8s.io/v1 forbids in a structural schema, or allows only in another form. */
const FORBIDDEN = ['const', 'patternProperties', 'additionalItems', 'anyOf', 'oneOf', 'allOf', '$ref', 'deprecated'];

/** Returns a schema and all schemas inside it, each with its path. */
function schemasIn(schema: JsonObject, path: string): { path: string; schema: JsonObject }[] {
  const { properties, items, additionalProperties } = schema;
  return [
    { path, schema },
    ...(isObject(properties)
      ? Object.entries(properties).flatMap(([key, field]) =>
          isObject(field) ? schemasIn(field, `${path}.${key}`) : [],
        )
      : []),
    ...(isObject(items) ? schemasIn(items, `${path}[]`) : []),
    ...(isObject(additionalProperties) ? schemasIn(additionalProperties, `${path}{}`) : []),
  ];
}

describe.each(KINDS.map((kind) => ({ name: kind.kind, kind })))('the CRD of $name', ({ kind }) => {
  const all = schemasIn(structuralSchema(kind), '');

  it("contains no keyword that an API server refuses, and none of skep's own marks", () => {
    const words = all.flatMap(({ path, schema }) => Object.keys(schema).map((word) => ({ path, word })));
    const wrong = words.filter(
      ({ word }) => FORBIDDEN.includes(word) || word.startsWith('~') || word.startsWith('x-skep'),
    );
    expect(wrong).toEqual([]);
    expect(all.filter(({ schema }) => schema.additionalProperties === false)).toEqual([]);
  });

  it('declares a type for every value, except values of any type', () => {
    const typed = all.filter(({ schema }) => schema['x-kubernetes-preserve-unknown-fields'] !== true);
    expect(typed.filter(({ schema }) => typeof schema.type !== 'string').map(({ path }) => path)).toEqual([]);
  });

  it('describes every field in sentences', () => {
    const fields = all.filter(({ path }) => !path.startsWith('.metadata') && !path.endsWith('{}'));
    const silent = fields.filter(({ schema }) => !/^[A-Za-z/].*[.]$/s.test(String(schema.description ?? '')));
    expect(silent.map(({ path, schema }) => `${path}: ${schema.description}`)).toEqual([]);
  });

  it('requires no field that has a default', () => {
    const both = all.flatMap(({ path, schema: { required, properties } }) => {
      if (!Array.isArray(required) || !isObject(properties)) return [];
      return required
        .filter((key) => {
          const field = properties[String(key)];
          return isObject(field) && field.default !== undefined;
        })
        .map((key) => `${path}.${key}`);
    });
    expect(both).toEqual([]);
  });

  it('declares how every list merges', () => {
    const lists = all.filter(({ schema }) => schema.type === 'array');
    expect(
      lists.filter(({ schema }) => schema['x-kubernetes-list-type'] === undefined).map(({ path }) => path),
    ).toEqual([]);
  });

  it('is served in two versions, one of which is stored, with a status subresource', () => {
    const definition = crd(kind, 'example.dev');
    expect(definition).toMatchObject({
      metadata: { name: `${kind.plural}.example.dev` },
      spec: {
        group: 'example.dev',
        scope: 'Namespaced',
        names: { kind: kind.kind, listKind: `${kind.kind}List`, plural: kind.plural },
        versions: [
          { name: 'v1alpha1', served: true, subresources: { status: {} } },
          { name: 'v1beta1', served: true, subresources: { status: {} } },
        ],
      },
    });
    const { versions } = definition.spec as { versions: { name: string; storage: boolean; schema: unknown }[] };
    const [before, after] = versions;
    // ToolHive has no v1beta1 of MCPWebhookConfig: if v1beta1 were stored, the API server would refuse ToolHive's
    // definition.
    const stored = kind.kind === 'MCPWebhookConfig' ? 'v1alpha1' : 'v1beta1';
    expect(versions.filter(({ storage }) => storage).map(({ name }) => name)).toEqual([stored]);
    expect(before?.schema).toEqual(after?.schema);
    expect(definition.spec).not.toHaveProperty('conversion');
  });

  it('refers in its columns only to fields of the schema', () => {
    const known = new Set([
      'metadata.creationTimestamp',
      ...fieldsOf(kind.schema.spec, 'spec').map(({ path }) => path),
      ...fieldsOf(kind.schema.status, 'status').map(({ path }) => path),
    ]);
    const shown = kind.printerColumns.flatMap(({ jsonPath }) => {
      const [, parent, names] = /^\.(.*)\[('[^\]]*)\]$/.exec(jsonPath) ?? [];
      if (names !== undefined) return names.split(',').map((name) => `${parent}.${name.slice(1, -1)}`);
      return [jsonPath.slice(1).replace(/\[(\?.*?|\*)\]/, '[]')];
    });
    expect(shown.filter((path) => !known.has(path))).toEqual([]);
  });
});
