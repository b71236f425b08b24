// Tests how published schemas are compiled to merge types (reference: "Schema to merge type").

import { describe, expect, test } from 'vitest';
import { THING_DOCUMENT, typeOf } from '../../../test/kubernetes/rules/thing.ts';
import { keyType, type MergeType, type OpenApiSchema, rootType } from './openapi.ts';

const DEPLOYMENT = typeOf({ apiVersion: 'apps/v1', kind: 'Deployment' });
const THING = typeOf({ apiVersion: 'things.example/v1', kind: 'Thing' });
const CRD = typeOf({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' });
const SERVICE = typeOf({ apiVersion: 'v1', kind: 'Service' });
const SECRET = typeOf({ apiVersion: 'v1', kind: 'Secret' });
const BINDING = typeOf({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' });

/** Returns the type at a path of keys. `[]` steps into the items of a list. */
function at(root: MergeType, path: string): MergeType | undefined {
  let type: MergeType | undefined = root;
  for (const step of path.split('.')) {
    if (step === '[]') type = type?.list?.item();
    else type = type?.map === undefined ? undefined : keyType(type.map, step);
  }
  return type;
}

/** Describes a type in a few words: its shapes, and how the server merges and stores them. */
function describeType(type: MergeType | undefined): string {
  if (type === undefined) return 'none';
  const { map, scalar, list, storage } = type;
  const shapes = [
    ...(map === undefined ? [] : [`${map.atomic ? 'atomic ' : ''}${map.pruned ? 'pruned ' : ''}map`]),
    ...(scalar === undefined ? [] : [[scalar.value, scalar.spelling].filter(Boolean).join(':')]),
    ...(list === undefined ? [] : [`${list.merge} list${list.keys.length > 0 ? ` by ${list.keys}` : ''}`]),
  ];
  return `${storage} ${shapes.join(' | ')}`;
}

const POD = 'spec.template.spec';
const SCHEMA = 'spec.versions.[].schema.openAPIV3Schema';

const ROWS: readonly { root: MergeType; path: string; is: string; reason: string }[] = [
  { root: DEPLOYMENT, path: 'spec', is: 'struct map', reason: 'allOf with one reference' },
  { root: DEPLOYMENT, path: 'spec.replicas', is: 'struct number', reason: 'integers are numbers' },
  { root: DEPLOYMENT, path: 'spec.selector', is: 'struct atomic map', reason: 'map type on the target' },
  { root: DEPLOYMENT, path: 'spec.strategy', is: 'struct map', reason: 'retainKeys alone says nothing of maps' },
  { root: DEPLOYMENT, path: `${POD}.containers`, is: 'struct map list by name', reason: 'list-map keys' },
  { root: DEPLOYMENT, path: `${POD}.volumes`, is: 'struct map list by name', reason: 'list type beats patch strategy' },
  { root: DEPLOYMENT, path: `${POD}.tolerations`, is: 'struct atomic list', reason: 'atomic by list type' },
  { root: DEPLOYMENT, path: `${POD}.nodeSelector`, is: 'struct atomic map', reason: 'atomic by map type' },
  {
    root: DEPLOYMENT,
    path: `${POD}.containers.[].ports`,
    is: 'struct map list by containerPort,protocol',
    reason: 'two keys, sorted',
  },
  {
    root: DEPLOYMENT,
    path: `${POD}.containers.[].resources.limits.cpu`,
    is: 'struct any:quantity',
    reason: 'quantities by name',
  },
  {
    root: DEPLOYMENT,
    path: 'metadata.labels.x',
    is: 'struct string',
    reason: 'any key of a map with additional properties',
  },
  { root: DEPLOYMENT, path: 'metadata.finalizers', is: 'struct set list', reason: 'a set has no keys' },
  {
    root: DEPLOYMENT,
    path: 'metadata.ownerReferences',
    is: 'struct map list by uid',
    reason: 'list-map key of ObjectMeta',
  },
  { root: DEPLOYMENT, path: 'metadata.creationTimestamp', is: 'struct any:time', reason: 'date-time' },
  { root: DEPLOYMENT, path: 'spec.nonsense', is: 'none', reason: 'unknown keys have no type' },
  {
    root: SERVICE,
    path: 'spec.ports.[].targetPort',
    is: 'struct map | any | atomic list',
    reason: 'no type at all: any shape',
  },
  { root: SECRET, path: 'data.a', is: 'struct string:base64', reason: 'format byte' },
  { root: BINDING, path: 'roleRef', is: 'struct atomic map', reason: 'map type of the reference' },
  { root: CRD, path: `${SCHEMA}.properties.x.properties.y`, is: 'struct map', reason: 'recursive types are lazy' },
  { root: CRD, path: `${SCHEMA}.$ref`, is: 'struct string', reason: 'a property named $ref is not a reference' },
  { root: CRD, path: `${SCHEMA}.default`, is: 'verbatim map | any | atomic list', reason: 'raw JSON is kept' },
  {
    root: CRD,
    path: `${SCHEMA}.additionalProperties`,
    is: 'opaque map | any | atomic list',
    reason: 'a struct that publishes nothing',
  },
  { root: THING, path: 'metadata.labels', is: 'struct map', reason: 'metadata of a custom resource is ObjectMeta' },
  { root: THING, path: 'spec.replicas', is: 'verbatim number', reason: 'custom resources keep values as written' },
  { root: THING, path: 'spec.cpu', is: 'verbatim map | any | atomic list', reason: 'int-or-string has no type' },
  { root: THING, path: 'spec.ports', is: 'verbatim map list by port,protocol', reason: 'list-map keys' },
  { root: THING, path: 'spec.tags', is: 'verbatim set list', reason: 'set' },
  { root: THING, path: 'spec.steps', is: 'verbatim atomic list', reason: 'without a list type lists are atomic' },
  { root: THING, path: 'spec.selector', is: 'verbatim atomic map', reason: 'atomic map' },
  { root: THING, path: 'spec.free.a.b', is: 'verbatim map | any | atomic list', reason: 'deduced all the way down' },
  { root: THING, path: 'spec.semi', is: 'verbatim map', reason: 'preserves unknown fields itself' },
  { root: THING, path: 'spec.semi.other', is: 'verbatim map | any | atomic list', reason: 'deduced' },
  {
    root: THING,
    path: 'spec.semi.known',
    is: 'verbatim pruned map',
    reason: 'preserving is inherited for ownership, not for storage',
  },
  { root: THING, path: 'spec.pod.metadata', is: 'struct map', reason: 'metadata of an embedded resource' },
  { root: THING, path: 'spec.other', is: 'none', reason: 'unknown keys have no type' },
];

test.each(ROWS)('$path is $is: $reason', ({ root, path, is }) => {
  expect(describeType(at(root, path))).toBe(is);
});

describe('schemas of a property', () => {
  /** Describes the type of one property `p` of a custom kind. */
  function property(schema: OpenApiSchema, others: Record<string, OpenApiSchema> = {}): string {
    const kind = { group: 'g', version: 'v', kind: 'K' };
    const document = {
      components: {
        schemas: {
          ...others,
          K: { type: 'object', properties: { p: schema }, 'x-kubernetes-group-version-kind': [kind] },
        },
      },
    };
    return describeType(at(rootType(document, kind) as MergeType, 'p'));
  }

  const SCHEMAS: readonly { schema: OpenApiSchema; is: string; reason: string }[] = [
    {
      schema: { type: 'array', items: {}, 'x-kubernetes-patch-strategy': 'merge' },
      is: 'verbatim set list',
      reason: 'patch strategy merge without a key is a set',
    },
    {
      schema: {
        type: 'array',
        items: {},
        'x-kubernetes-patch-strategy': 'merge,retainKeys',
        'x-kubernetes-patch-merge-key': 'name',
      },
      is: 'verbatim map list by name',
      reason: 'patch merge key',
    },
    {
      schema: { type: 'array', items: {}, 'x-kubernetes-patch-strategy': 'retainKeys' },
      is: 'verbatim atomic list',
      reason: 'retainKeys alone is atomic',
    },
    { schema: { type: 'string', format: 'date-time' }, is: 'verbatim any', reason: 'a format takes any scalar' },
    { schema: { type: 'string', format: 'byte' }, is: 'verbatim string', reason: 'no respelling in custom resources' },
    {
      schema: { $ref: '#/components/schemas/Gone' },
      is: 'verbatim map | any | atomic list',
      reason: 'broken reference',
    },
    { schema: { type: 'object', additionalProperties: false }, is: 'verbatim map', reason: 'closed' },
  ];

  test.each(SCHEMAS)('$schema is $is: $reason', ({ schema, is }) => {
    expect(property(schema)).toBe(is);
  });

  test('the map type on a reference overrides the map type of its target', () => {
    const target: OpenApiSchema = { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: {} } };
    const wrapper: OpenApiSchema = { allOf: [{ $ref: '#/T' }], 'x-kubernetes-map-type': 'granular' };
    expect(property(wrapper, { T: target })).toBe('verbatim map');
    expect(property({ $ref: '#/T' }, { T: target })).toBe('verbatim atomic map');
  });

  test('x-kubernetes-preserve-unknown-fields on a reference does not apply to its target', () => {
    const target: OpenApiSchema = { type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } };
    const wrapper: OpenApiSchema = { $ref: '#/T', 'x-kubernetes-preserve-unknown-fields': true };
    expect(property(wrapper, { T: target })).toBe('verbatim map');
  });
});

test('a kind that is not in the document has no type', () => {
  expect(rootType(THING_DOCUMENT, { group: 'things.example', version: 'v2', kind: 'Thing' })).toBeUndefined();
});

test('a kind is compiled once', () => {
  const kind = { group: 'things.example', version: 'v1', kind: 'Thing' };
  expect(rootType(THING_DOCUMENT, kind)).toBe(rootType(THING_DOCUMENT, kind));
});
