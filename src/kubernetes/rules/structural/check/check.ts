// Checks whether a schema is structural, and whether an API server would accept it in a CustomResourceDefinition.
// Source: CustomResourceDefinitions, "Specifying a structural schema". The cost of validation rules is not estimated.

import { isObject, type JsonObject, pointerToken } from '#std/json.ts';
import type { Finding } from '../../finding.ts';
import { forbid, type Report, report } from '../report.ts';
import { readSchema, type SchemaNode } from '../schema.ts';
import { checkPattern, checkUnsupported, checkWords } from '../words.ts';
import { checkDefault } from './default.ts';
import { checkListType, checkMapType } from './list-type.ts';
import { checkNested } from './nested.ts';
import type { SchemaPosition } from './place.ts';
import { checkRules } from './rules.ts';

const ROOT: SchemaPosition = { pointer: '', level: 'root', inMetadata: false };
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
const TYPES: ReadonlySet<string> = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);

/**
 * Reports the faults for which an API server refuses the creation of a CRD: the schema must be structural, and its
 * validation rules must compile.
 */
export function checkStructural(schema: JsonObject): readonly Finding[] {
  const out: Report = { findings: [] };
  checkSchema(out, schema, ROOT);
  if (schema.nullable === true) forbid(out, '/nullable', 'must not be true at the root.');
  // Validation rules and defaults are checked against the schema, so the schema must be free of other faults.
  if (out.findings.length === 0) checkValues(out, readSchema(schema), schema, ROOT);
  return out.findings;
}

function checkSchema(out: Report, schema: JsonObject, place: SchemaPosition): void {
  const { pointer } = place;
  checkWords(out, schema, pointer);
  checkType(out, schema, place);
  checkUnsupported(out, schema, pointer);
  checkPattern(out, schema.pattern, `${pointer}/pattern`);
  if (schema.default !== undefined && place.noDefaults !== undefined) {
    forbid(out, `${pointer}/default`, `must not be set ${place.noDefaults}.`);
  }
  checkListType(out, schema, pointer);
  checkMapType(out, schema, pointer);
  checkResource(out, schema, place);
  checkNested(out, schema, pointer);
  checkChildren(out, schema, place);
}

function checkType(out: Report, schema: JsonObject, { pointer, level }: SchemaPosition): void {
  const { type } = schema;
  const at = `${pointer}/type`;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (typeof type === 'string' && type !== '' && !TYPES.has(type)) {
    forbid(out, at, type === 'null' ? 'must not be null; set nullable.' : `must be one of ${[...TYPES].join(', ')}.`);
  } else if (level === 'root' && type !== 'object') forbid(out, at, 'must be object at the root.');
  else if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    forbid(out, at, 'must be object if x-kubernetes-embedded-resource is true.');
  } else if ((type === undefined || type === '') && !intOrString && !preserve) {
    forbid(out, at, `must be given for every ${level}.`);
  }
  if (intOrString && preserve) {
    forbid(out, `${pointer}/x-kubernetes-preserve-unknown-fields`, 'must not be set with x-kubernetes-int-or-string.');
  }
}

/** Checks the root of a resource or of an embedded resource. */
function checkResource(out: Report, schema: JsonObject, { pointer, level, inMetadata }: SchemaPosition): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  if (embedded && inMetadata) forbid(out, `${pointer}/x-kubernetes-embedded-resource`, 'must not be used in metadata.');
  if (level !== 'root' && !embedded) return;
  if (schema.additionalProperties !== undefined) {
    forbid(out, `${pointer}/additionalProperties`, 'must not be used for a whole resource.');
  }
  const properties = isObject(schema.properties) ? schema.properties : {};
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (embedded && !preserve && Object.keys(properties).length === 0) {
    forbid(
      out,
      `${pointer}/properties`,
      'must name the fields of an embedded resource, or it must preserve unknown ones.',
    );
  }
  for (const [name, type] of [
    ['apiVersion', 'string'],
    ['kind', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const field = properties[name];
    if (isObject(field) && field.type !== type) forbid(out, `${pointer}/properties/${name}/type`, `must be ${type}.`);
  }
  if (level === 'root' && isObject(properties.metadata)) checkRootMetadata(out, properties.metadata, pointer);
}

function checkRootMetadata(out: Report, metadata: JsonObject, pointer: string): void {
  const at = `${pointer}/properties/metadata`;
  const { type: _, properties, ...rest } = metadata;
  const fields = isObject(properties) ? Object.keys(properties) : [];
  if (fields.some((field) => field !== 'name' && field !== 'generateName') || Object.keys(rest).length > 0) {
    forbid(out, at, 'may restrict only name and generateName: all other fields are the same for every kind.');
  }
}

function checkChildren(out: Report, schema: JsonObject, place: SchemaPosition): void {
  const { pointer, level, inMetadata } = place;
  const { properties, additionalProperties, items } = schema;
  const resource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const atomic = schema['x-kubernetes-map-type'] === 'atomic';
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    const at = `${pointer}/properties/${pointerToken(name)}`;
    if (!isObject(field)) {
      report(out, 'schema-type', at, 'must be a schema.');
      continue;
    }
    const meta = resource && META_FIELDS.has(name);
    checkSchema(out, field, {
      ...inherited(place, atomic ? pointer : undefined),
      pointer: at,
      level: 'field',
      inMetadata: inMetadata || meta,
      ...(meta && level === 'root' ? { noDefaults: `in ${name} of a resource` } : {}),
    });
  }
  checkAdditional(out, schema, place);
  if (isObject(items)) {
    const lost = schema['x-kubernetes-list-type'] === 'map' ? undefined : pointer;
    checkSchema(out, items, { ...inherited(place, lost), pointer: `${pointer}/items`, level: 'item', inMetadata });
  } else if (Array.isArray(items)) forbid(out, `${pointer}/items`, 'must be one schema, not a list of them.');
  else if (schema.type === 'array') forbid(out, `${pointer}/items`, 'must be given for a list.');
  else if (additionalProperties === undefined && items !== undefined)
    report(out, 'schema-type', `${pointer}/items`, 'must be a schema.');
}

function checkAdditional(out: Report, schema: JsonObject, place: SchemaPosition): void {
  const { properties, additionalProperties } = schema;
  const at = `${place.pointer}/additionalProperties`;
  if (additionalProperties !== undefined && isObject(properties) && Object.keys(properties).length > 0) {
    if (additionalProperties !== true) forbid(out, at, 'must not stand next to properties.');
  }
  if (!isObject(additionalProperties)) return;
  const noDefaults = place.inMetadata ? { noDefaults: 'for entries of a map in metadata' } : {};
  checkSchema(out, additionalProperties, {
    ...inherited(place, undefined),
    ...noDefaults,
    pointer: at,
    level: 'field',
    inMetadata: place.inMetadata,
  });
}

/**
 * Returns the restrictions that child places inherit. `lost`: pointer of a list or map whose entries cannot be matched
 * with their values before a change.
 */
function inherited(
  place: SchemaPosition,
  lost: string | undefined,
): Pick<SchemaPosition, 'noDefaults' | 'uncorrelatable'> {
  const uncorrelatable = place.uncorrelatable ?? lost;
  return {
    noDefaults: place.noDefaults,
    uncorrelatable,
  };
}

function checkValues(out: Report, node: SchemaNode, schema: JsonObject, place: SchemaPosition): void {
  const { pointer } = place;
  checkDefault(out, node, schema.default, `${pointer}/default`);
  checkRules(out, node, schema['x-kubernetes-validations'], place);
  for (const [name, field] of node.properties) {
    const text = isObject(schema.properties) ? schema.properties[name] : undefined;
    if (!isObject(text)) continue;
    const lost = node.mapAtomic ? pointer : undefined;
    const at = `${pointer}/properties/${pointerToken(name)}`;
    checkValues(out, field, text, { ...place, ...inherited(place, lost), pointer: at, level: 'field' });
  }
  const { additional, items } = node;
  if (additional !== undefined && additional !== 'any' && isObject(schema.additionalProperties)) {
    const at = `${pointer}/additionalProperties`;
    checkValues(out, additional, schema.additionalProperties, { ...place, pointer: at, level: 'field' });
  }
  if (items === undefined || !isObject(schema.items)) return;
  const lost = node.listType === 'map' ? undefined : pointer;
  checkValues(out, items, schema.items, {
    ...place,
    ...inherited(place, lost),
    pointer: `${pointer}/items`,
    level: 'item',
  });
}
