// JSON Schemas (draft 7) of the custom resources for editors and linters: what completes a manifest while it is written.
// Stricter than an API server where that helps an author (no unknown fields, no nulls); CEL rules are in the descriptions
// only.

import assert from 'node:assert/strict';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { VERSIONS } from '#reconciler/kinds/crd.ts';
import type { Kind } from '#reconciler/kinds/kind.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { deprecationOf, deprecationSentence, NEVER_EMPTY, REFERENCE } from '#std/schema/marks.ts';

const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** Of one kind, in a version or in all. Spellings that are deprecated in one version are marked in its own schema alone. */
export function editorSchema(kind: Kind, apiGroup: string, version?: string): JsonObject {
  const { spec, status, validations } = kind.schema;
  const converted = convert(spec, version);
  const isNeeded = converted.required !== undefined || spec[NEVER_EMPTY] === true;
  const apiVersions = VERSIONS.map((each) => `${apiGroup}/${each}`);
  const fitting = version === undefined ? { enum: apiVersions } : { const: `${apiGroup}/${version}` };
  return {
    $schema: DRAFT,
    title: kind.kind,
    description: withRules(
      kind.description,
      validations.map(({ message }) => message),
    ),
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', ...(isNeeded ? ['spec'] : [])],
    additionalProperties: false,
    properties: {
      apiVersion: { description: 'Group and version of the kind.', ...fitting },
      kind: { description: kind.description, const: kind.kind },
      metadata: METADATA,
      spec: converted,
      status: convert(status, version),
    },
  };
}

/** Of every manifest: our kinds by their `kind`, all other API groups as they please. */
export function combinedSchema(kinds: readonly Kind[], apiGroup: string): JsonObject {
  const apiVersion = { enum: VERSIONS.map((version) => `${apiGroup}/${version}`) };
  const definitions = kinds.map((kind): [string, JsonObject] => {
    const { $schema: _, ...schema } = editorSchema(kind, apiGroup);
    return [kind.kind, schema];
  });
  return {
    $schema: DRAFT,
    title: 'Manifest of a fleet',
    description: `A resource of ${apiGroup} (${VERSIONS.join(', ')}), held against its kind, or any other Kubernetes object.`,
    type: 'object',
    required: ['apiVersion', 'kind'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the kind.' },
      kind: { type: 'string', description: 'Which kind of object this is.' },
    },
    allOf: [
      {
        if: { properties: { apiVersion }, required: ['apiVersion'] },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { properties: { kind: { enum: kinds.map(({ kind }) => kind) } } },
      },
      ...kinds.map(({ kind }) => ({
        if: { properties: { apiVersion, kind: { const: kind } }, required: ['apiVersion', 'kind'] },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { $ref: `#/definitions/${kind}` },
      })),
    ],
    definitions: Object.fromEntries(definitions),
  };
}

/** Words that mean the same here. */
const SAME = new Set([
  'type',
  'default',
  'enum',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'pattern',
  'title',
]);

/** Words that are said in another way, or that only API servers and we need. */
const HANDLED = new Set(['description', 'required', 'properties', 'items', 'additionalProperties', 'format']);

function convert(schema: JsonObject, version: string | undefined): JsonObject {
  if (schema[REFERENCE] === true && schema.type === undefined) return nameOrObject(schema, version);
  for (const word of Object.keys(schema)) {
    const known = SAME.has(word) || HANDLED.has(word) || /^(x-|~)/.test(word);
    assert(known, `what "${word}" means to editors has to be said here`);
  }
  const same = Object.fromEntries(Object.entries(schema).filter(([word]) => SAME.has(word)));
  const { description, format, items, properties, additionalProperties } = schema;
  const deprecated = deprecationOf(schema);
  const required = requiredFields(schema);
  // If a kind describes fields, it refuses others, also those that an API server keeps.
  const open = schema['x-kubernetes-embedded-resource'];
  return {
    ...(schema['x-kubernetes-int-or-string'] === true ? { type: ['integer', 'string'] } : {}),
    ...same,
    ...(typeof description === 'string' ? { description: withRules(description, messagesOf(schema)) } : {}),
    // Of the others, editors know nothing; bounds of int32 are bounds like others.
    ...(format === 'date-time' ? { format } : {}),
    ...(deprecated !== undefined && (deprecated.since === undefined || deprecated.since === version)
      ? { deprecated: true, deprecationMessage: deprecationSentence(deprecated) }
      : {}),
    ...(required.length === 0 ? {} : { required }),
    ...(isObject(properties) ? { properties: convertAll(properties, version) } : {}),
    ...(isObject(properties) && !isObject(additionalProperties) && open !== true
      ? { additionalProperties: false }
      : {}),
    ...(isObject(items) ? { items: convert(items, version) } : {}),
    ...(isObject(additionalProperties) ? { additionalProperties: convert(additionalProperties, version) } : {}),
  };
}

/** A name, or an object with it. */
function nameOrObject({ description, required, properties, minLength, maxLength }: JsonObject, version?: string) {
  const object = convert({ type: 'object', required, properties }, version);
  return { description, anyOf: [{ type: 'string', minLength, maxLength }, object] };
}

function convertAll(properties: JsonObject, version: string | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, isObject(field) ? convert(field, version) : {}]),
  );
}

/** Those without a default: a field with one need not be written. */
export function requiredFields({ required, properties }: JsonObject): Json[] {
  if (!Array.isArray(required) || !isObject(properties)) return [];
  return required.filter((name) => {
    const field = properties[String(name)];
    return !isObject(field) || field.default === undefined;
  });
}

function messagesOf(schema: JsonObject): readonly string[] {
  const rules = schema['x-kubernetes-validations'];
  const found = Array.isArray(rules) ? rules.filter(isObject) : [];
  return found.map(({ message }) => {
    assert(typeof message === 'string', 'a rule has a sentence for authors');
    return message;
  });
}

function withRules(description: string, rules: readonly string[]): string {
  return [description, ...rules.map((rule) => `- ${rule}`)].join('\n');
}

const METADATA = metadataSchema();

/** What authors write is described; whatever else the metadata of an object holds is known by name. */
function metadataSchema(): JsonObject {
  const texts = { type: 'object', additionalProperties: { type: 'string' } };
  const written = {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 253,
      description: 'Name, unique among those of its kind and namespace.',
    },
    namespace: { type: 'string', minLength: 1, maxLength: 63, description: 'Namespace that the object is in.' },
    labels: { ...texts, description: 'Labels, by which objects are selected.' },
    annotations: { ...texts, description: 'Annotations: notes that nothing selects by.' },
  };
  const schemas = bundledSchema('v1')?.components?.schemas;
  const meta = schemas?.['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'];
  assert(isObject(meta) && isObject(meta.properties), 'Kubernetes describes its metadata');
  const others = Object.keys(meta.properties).map((name): [string, JsonObject] => [name, {}]);
  return {
    type: 'object',
    description: 'Name, namespace, labels and annotations.',
    required: ['name'],
    additionalProperties: false,
    properties: { ...written, ...Object.fromEntries(others.filter(([name]) => !Object.hasOwn(written, name))) },
  };
}
