// Renders a kind for an API server: its structural schema and its CustomResourceDefinition.

import assert from 'node:assert/strict';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { NEVER_EMPTY, NEXT_VERSION } from '#std/schema/marks.ts';
import type { Kind, PrinterColumn } from './kind.ts';

/** Version whose spelling ToolHive's documents use. */
export const DOCUMENTED_VERSION = 'v1alpha1';

/** Version of new manifests. Each kind chooses the version that an API server stores. */
export const VERSION = NEXT_VERSION;

/**
 * All served versions. They share one schema, which contains the spellings of both versions. A version that an API
 * server has stored must not be removed: the API server refuses a definition without it.
 */
export const VERSIONS = [DOCUMENTED_VERSION, VERSION] as const;

/** Keywords that apiextensions.k8s.io/v1 forbids in a structural schema, or that differ in meaning from JSON Schema. */
const FORBIDDEN = ['const', 'patternProperties', 'anyOf', 'allOf', 'oneOf', '$ref', 'definitions'];

/**
 * Returns the `openAPIV3Schema` of the whole object. Makes fields with a default optional, and removes skep's own
 * marks.
 */
export function structuralSchema(kind: Kind): JsonObject {
  const spec = structural(kind.schema.spec);
  const isNeeded = spec.required !== undefined || kind.schema.spec[NEVER_EMPTY] === true;
  const { validations } = kind.schema;
  return {
    description: kind.description,
    type: 'object',
    required: isNeeded ? ['spec'] : undefined,
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the kind.' },
      kind: { type: 'string', description: `Always ${kind.kind}.` },
      // The API server refuses a description of `metadata`. `name` must be declared only if a rule uses the name.
      metadata: { type: 'object', properties: validations.length === 0 ? undefined : { name: { type: 'string' } } },
      spec: isNeeded ? spec : { ...spec, default: {} },
      status: structural(kind.schema.status),
    },
    'x-kubernetes-validations': validations.length === 0 ? undefined : validations.map((rule) => ({ ...rule })),
  };
}

export function structural(schema: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    assert(!FORBIDDEN.includes(word), `a structural schema cannot hold ${word}`);
    if (word.startsWith('x-skep-') || word.startsWith('~')) continue;
    const kept = word === 'required' ? requiredFields(schema) : nested(word, value);
    if (kept !== undefined) result[word] = kept;
  }
  return result;
}

function requiredFields({ required, properties }: JsonObject): Json[] | undefined {
  assert(Array.isArray(required) && isObject(properties), 'required names fields of an object');
  const asked = required.filter((field) => {
    const property = properties[String(field)];
    return !isObject(property) || property.default === undefined;
  });
  return asked.length === 0 ? undefined : asked;
}

function nested(word: string, value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value;
  if (word === 'items' || word === 'additionalProperties') return structural(value);
  if (word !== 'properties') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, isObject(field) ? structural(field) : field]),
  );
}

/** Returns the kind's CustomResourceDefinition in an API group. `stored`: the version that the API server stores. */
export function crd(kind: Kind, apiGroup: string, stored = kind.storedVersion): KubeObject {
  const { plural, singular, shortNames, categories } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames: shortNames.length === 0 ? undefined : [...shortNames],
        categories: categories.length === 0 ? undefined : [...categories],
      },
      scope: 'Namespaced',
      versions: VERSIONS.map((name) => ({
        name,
        served: true,
        storage: name === stored,
        schema: { openAPIV3Schema: structuralSchema(kind) },
        subresources: { status: {} },
        additionalPrinterColumns: kind.printerColumns.map(printed),
      })),
    },
  };
}

function printed(column: PrinterColumn): JsonObject {
  const { name, type, jsonPath, description, priority } = column;
  return {
    name,
    type,
    jsonPath,
    description,
    priority,
  };
}
