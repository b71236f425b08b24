// Defines a custom kind with every way of merging, published as by an API server, and helpers to reach types.

import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { type MergeType, type OpenApiDocument, type OpenApiSchema, rootType } from '#kubernetes/rules/openapi.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';

const string: OpenApiSchema = { type: 'string' };
const integer: OpenApiSchema = { type: 'integer' };
const metadata: OpenApiSchema = {
  allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
};

const SPEC: OpenApiSchema = {
  type: 'object',
  properties: {
    replicas: { ...integer, default: 1 },
    ratio: { type: 'number' },
    image: string,
    enabled: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    cpu: { 'x-kubernetes-int-or-string': true },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        properties: { port: integer, protocol: { ...string, default: 'TCP' }, name: string },
      },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: string,
          timeout: { ...integer, default: 80 },
          options: {
            type: 'object',
            default: {},
            properties: { a: { ...string, default: 'x' }, b: string },
          },
        },
      },
    },
    selector: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: string, b: string } },
    env: { type: 'object', additionalProperties: string },
    nested: { type: 'object', properties: { x: integer, y: string, list: { type: 'array', items: string } } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    semi: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { z: string } } },
    },
    pod: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { apiVersion: string, kind: string, metadata },
    },
  },
};

export const THING_DOCUMENT: OpenApiDocument = {
  components: {
    schemas: {
      ...bundledSchema('v1')?.components.schemas,
      'example.things.v1.Thing': {
        type: 'object',
        properties: {
          apiVersion: string,
          kind: string,
          metadata,
          spec: SPEC,
          status: { type: 'object', properties: { phase: string } },
        },
        'x-kubernetes-group-version-kind': [{ group: 'things.example', version: 'v1', kind: 'Thing' }],
      },
    },
  },
};

/** Returns the merge type of a bundled kind or of Thing. */
export function typeOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): MergeType {
  const document = apiVersion === 'things.example/v1' ? THING_DOCUMENT : bundledSchema(apiVersion);
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  const type = document && rootType(document, { group: groupOf(apiVersion), version, kind });
  if (type === undefined) throw new Error(`no type of ${apiVersion} ${kind}`);
  return type;
}

export function thing(spec: KubeObject[string], name = 'a'): KubeObject {
  return { apiVersion: 'things.example/v1', kind: 'Thing', metadata: { name, namespace: 'n' }, spec };
}

/** Returns a Deployment with only the given parts. */
export function deployment(podSpec: KubeObject[string], name = 'a'): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'n' },
    spec: { template: { spec: podSpec } },
  } as KubeObject;
}

export function object(apiVersion: string, kind: string, rest: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'a', namespace: 'n' }, ...rest };
}
