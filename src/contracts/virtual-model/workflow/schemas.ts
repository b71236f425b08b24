// Checks whether a JSON Schema in a workflow is valid by its meta-schema and refers to no other document. Only the
// meta-schemas are compiled to code, because the author of the schema is not trusted.

import { createRequire } from 'node:module';
import type { Ajv, ErrorObject } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type Json, type JsonObject, pointerToken, pointerTokens } from '#std/json.ts';
import { problem, type WorkflowFinding, warning } from './workflow.ts';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

export type Dialect = 'draft-07' | '2020-12';

const require = createRequire(import.meta.url);
const validators = new Map<Dialect, Ajv | Ajv2020>();
/** Validators that stop after the first error. */
const hastyValidators = new Map<Dialect, Ajv | Ajv2020>();

/** Returns the validator. Loads it on first use, because most workflows have no schema. */
function validatorOf(dialect: Dialect): Ajv | Ajv2020 {
  const validator = validators.get(dialect) ?? newValidator(dialect);
  validators.set(dialect, validator);
  return validator;
}

/** Returns the pointer and the message of the first error in the schema, or undefined if the schema is valid. */
export function findFormFault(schema: JsonObject, dialect: Dialect): string | undefined {
  const validator = hastyValidators.get(dialect) ?? newValidator(dialect, false);
  hastyValidators.set(dialect, validator);
  if (validator.validateSchema(schema) === true) return undefined;
  const { instancePath = '', message = 'is not valid' } = validator.errors?.[0] ?? {};
  return `${instancePath} ${message.replace(' NOT ', ' not ')}`.trimStart();
}

function newValidator(dialect: Dialect, allErrors = true): Ajv | Ajv2020 {
  const options = { allErrors, validateFormats: false };
  if (dialect === 'draft-07') {
    const module: typeof import('ajv') = require('ajv');
    return new module.Ajv(options);
  }
  const module: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  return new module.Ajv2020(options);
}

/** Checks the schema of a tool's arguments. Its type must be object. */
export function parametersFindings(schema: JsonObject | undefined, pointer: string): readonly WorkflowFinding[] {
  if (schema === undefined || Object.keys(schema).length === 0) return [];
  const { type } = schema;
  return [
    ...(type === 'object' ? [] : [wrong(`${pointer}/type`, 'type must be object: tools are called with an object')]),
    ...schemaFindings(schema, pointer),
  ];
}

export function schemaFindings(schema: JsonObject | undefined, pointer: string): readonly WorkflowFinding[] {
  if (schema === undefined) return [];
  const dialect = dialectOf(schema);
  if (dialect === undefined) {
    const message = `this dialect of JSON Schema is not known, so the schema is not checked: use ${DRAFT_2020}`;
    return [warning('workflow-schema-invalid', `${pointer}/$schema`, message)];
  }
  const validator = validatorOf(dialect);
  validator.validateSchema(schema);
  const misfits = firstOfEach(validator.errors ?? []).map((error) =>
    wrong(pointer + error.instancePath, sentence(error)),
  );
  // In an invalid schema it is unknown which values are schemas.
  return misfits.length > 0 ? misfits : deepFindings(schema, schema, pointer);
}

/** Returns the dialect of the schema, or undefined for an unknown dialect. The default of MCP is 2020-12. */
export function dialectOf({ $schema }: JsonObject): Dialect | undefined {
  if ($schema === undefined) return '2020-12';
  const name = String($schema).replace(/#$/, '');
  if (name === DRAFT_7) return 'draft-07';
  return name === DRAFT_2020 ? '2020-12' : undefined;
}

/**
 * Returns the first error of each value that contains no other value with an error. Further errors about a value
 * concern other branches of the meta-schema.
 */
function firstOfEach(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const first = new Map<string, ErrorObject>();
  for (const error of errors) if (!first.has(error.instancePath)) first.set(error.instancePath, error);
  const places = [...first.keys()];
  return [...first.values()].filter(
    ({ instancePath }) => !places.some((other) => other.startsWith(`${instancePath}/`)),
  );
}

function sentence({ keyword, message = 'is not valid', params }: ErrorObject): string {
  const allowed: unknown = keyword === 'enum' ? params.allowedValues : undefined;
  const words = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : message.replace(' NOT ', ' not ');
  return `not a valid JSON Schema: ${words}`;
}

/** Keywords whose value is a schema. */
export const SINGLE_SCHEMAS = [
  ...['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];
/** Keywords whose value is a list of schemas. */
export const SCHEMA_LISTS = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
/** Keywords whose value is a mapping of names to schemas. */
export const SCHEMA_MAPS = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
];

/** Checks the schema and all schemas inside it with rules that the meta-schema does not contain. */
function deepFindings(root: JsonObject, schema: JsonObject, pointer: string): readonly WorkflowFinding[] {
  const own = [...referenceFindings(root, schema, pointer), ...patternFindings(schema, pointer)];
  const below = Object.entries(schema).flatMap(([word, value]) => {
    const at = `${pointer}/${pointerToken(word)}`;
    if (SINGLE_SCHEMAS.includes(word) && isObject(value)) return deepFindings(root, value, at);
    const listed = SCHEMA_LISTS.includes(word) && Array.isArray(value);
    if (!listed && !(SCHEMA_MAPS.includes(word) && isObject(value))) return [];
    return Object.entries(value).flatMap(([key, item]) =>
      isObject(item) ? deepFindings(root, item, `${at}/${pointerToken(key)}`) : [],
    );
  });
  return [...own, ...below];
}

function referenceFindings(root: JsonObject, { $ref }: JsonObject, pointer: string): readonly WorkflowFinding[] {
  if (typeof $ref !== 'string' || leadsSomewhere(root, $ref)) return [];
  const message = `$ref ${JSON.stringify($ref)} leads nowhere: it must name a part of this schema, as #/$defs/name`;
  return [wrong(`${pointer}/$ref`, message)];
}

function leadsSomewhere(root: JsonObject, reference: string): boolean {
  const { $id } = root;
  const own = typeof $id === 'string' && reference.startsWith(`${$id}#`) ? reference.slice($id.length) : reference;
  if (own === '#' || own === $id) return true;
  if (!own.startsWith('#/')) return own.startsWith('#') && hasAnchor(root, own.slice(1));
  let value: Json | undefined = root;
  for (const token of pointerTokens(decoded(own.slice(1)))) {
    value =
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([key]) => key === token)?.[1]
        : undefined;
  }
  return isObject(value) || typeof value === 'boolean';
}

/** Decodes the fragment of a URI. An invalid fragment is returned unchanged. */
export function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch (error) {
    if (error instanceof URIError) return fragment;
    throw error;
  }
}

function hasAnchor(value: Json | undefined, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isObject(value) && (value.$anchor === name || value.$dynamicAnchor === name || value.$id === `#${name}`))
    return true;
  return Object.values(value).some((item) => hasAnchor(item, name));
}

function patternFindings({ pattern, patternProperties }: JsonObject, pointer: string): readonly WorkflowFinding[] {
  const patterns = [
    ...(typeof pattern === 'string' ? [[pattern, `${pointer}/pattern`]] : []),
    ...Object.keys(isObject(patternProperties) ? patternProperties : {}).map((key) => {
      return [key, `${pointer}/patternProperties/${pointerToken(key)}`];
    }),
  ];
  return patterns.flatMap(([text = '', at = '']) => {
    return isPattern(text) ? [] : [wrong(at, `${JSON.stringify(text)} is not a regular expression`)];
  });
}

/**
 * Returns true if the text is a pattern of ECMA 262, with or without Unicode mode. Authors may test their patterns in
 * either mode.
 */
function isPattern(text: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      new RegExp(text, flags);
      return true;
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  });
}

function wrong(pointer: string, message: string): WorkflowFinding {
  return problem('workflow-schema-invalid', pointer, message);
}
