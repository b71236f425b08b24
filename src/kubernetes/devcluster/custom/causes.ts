// Converts findings of `kubernetes/rules/structural` about a custom resource to causes of a 422 with the API server's
// messages.

import { isObject, type Json, type JsonObject, pointerTokens, valueAtPointer } from '#std/json.ts';
import type { Finding } from '../../rules/finding.ts';
import type { Cause } from '../api/status.ts';
import { schemaAt } from './schema-at.ts';

export interface ObjectWithSchema {
  readonly schema: JsonObject;
  readonly object: JsonObject;
}

export function causesOf({ schema, object }: ObjectWithSchema, findings: readonly Finding[]): Cause[] {
  const unchecked = findings.some(({ code }) => BLOCKING.includes(code)) && hasRules(schema) ? [UNCHECKED] : [];
  const tooLong = new Set(findings.filter(({ code }) => code === 'schema-length').map(({ pointer }) => pointer));
  // If the length of a text is wrong, the API server does not check its pattern.
  const reported = findings.filter(({ code, pointer }) => code !== 'schema-pattern' || !tooLong.has(pointer));
  const causes = reported.map((finding) => {
    const place: FieldWithSchema = {
      field: fieldPath(finding.pointer),
      schema: schemaAt(schema, finding.pointer) ?? {},
      value: valueAtPointer(object, finding.pointer),
    };
    return causeOf(finding, place, schema);
  });
  return [...unchecked, ...causes];
}

/** After findings with these codes, the API server does not evaluate validation rules. */
const BLOCKING = ['schema-enum', 'schema-required', 'schema-type'];

const UNCHECKED: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing ' +
    'errors to complete validation',
  field: '<nil>',
};

function hasRules(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isObject(schema)) return false;
  return schema['x-kubernetes-validations'] !== undefined || Object.values(schema).some(hasRules);
}

interface FieldWithSchema {
  readonly field: string;
  readonly schema: JsonObject;
  readonly value: Json | undefined;
}

function causeOf(finding: Finding, place: FieldWithSchema, schema: JsonObject): Cause {
  const { field, value } = place;
  switch (finding.code) {
    case 'schema-required':
      return { reason: 'FieldValueRequired', message: 'Required value', field };
    case 'schema-type':
      return typeCause(place);
    case 'schema-enum':
      return { reason: 'FieldValueNotSupported', message: describeChoices(value, place.schema.enum), field };
    case 'schema-pattern':
      return invalidBody(place, `should match '${String(place.schema.pattern)}'`);
    case 'schema-length':
      return lengthCause(place);
    case 'schema-range':
      return invalidBody(place, rangeText(place.schema, value));
    case 'schema-items':
      return itemsCause(place);
    case 'schema-duplicate-item':
      return duplicateCause(place, finding, schema);
    case 'schema-format':
      return {
        reason: 'FieldValueTypeInvalid',
        message: notOfType(place, formatJson(value), String(place.schema.format)),
        field,
      };
    case 'cel-rule':
      return ruleCause(finding, place, schema);
    default:
      return { reason: 'FieldValueInvalid', message: `Invalid value: ${finding.message}`, field };
  }
}

/**
 * Creates the cause of a violated rule. The message contains the value if it is a scalar. A rule may define the reason.
 */
function ruleCause({ message, pointer }: Finding, { field, value }: FieldWithSchema, schema: JsonObject): Cause {
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  const rule = findRule(schema, pointer, text);
  const isShown = value !== undefined && typeof value !== 'object' && rule?.isAbove !== true;
  switch (rule?.reason) {
    case 'FieldValueForbidden':
      return { reason: 'FieldValueForbidden', message: `Forbidden: ${text}`, field };
    case 'FieldValueRequired':
      return { reason: 'FieldValueRequired', message: `Required value: ${text}`, field };
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${formatJson(value)}`, field };
    default: {
      const what = isShown ? `Invalid value: ${formatJson(value)}: ${text}` : `Invalid value: ${text}`;
      return { reason: 'FieldValueInvalid', message: what, field };
    }
  }
}

interface FoundRule {
  readonly reason: Json | undefined;
  /** True if the rule belongs to a parent and refers to the place by its `fieldPath`. */
  readonly isAbove: boolean;
}

/** Returns the rule with this message at the place or at a parent of it. */
function findRule(schema: JsonObject, pointer: string, text: string, isAbove = false): FoundRule | undefined {
  const cut = pointer.lastIndexOf('/');
  const rules = schemaAt(schema, pointer)?.['x-kubernetes-validations'];
  const found = (Array.isArray(rules) ? rules : []).find((rule) => isObject(rule) && rule.message === text);
  if (isObject(found)) return { reason: found.reason, isAbove };
  return cut < 0 ? undefined : findRule(schema, pointer.slice(0, cut), text, true);
}

function invalidBody({ field, value }: FieldWithSchema, why: string): Cause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${formatJson(value)}: ${field} in body ${why}`,
    field,
  };
}

function formatJson(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

function notOfType({ field }: FieldWithSchema, what: string, type: string): string {
  return `Invalid value: ${what}: ${field} in body must be of type ${type}: ${what}`;
}

function typeCause(place: FieldWithSchema): Cause {
  const { field, schema, value } = place;
  const expectedType =
    schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : String(schema.type ?? 'object');
  return {
    reason: 'FieldValueTypeInvalid',
    message: notOfType(place, JSON.stringify(typeName(value)), expectedType),
    field,
  };
}

function typeName(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function describeChoices(value: Json | undefined, allowed: Json | undefined): string {
  const list = (Array.isArray(allowed) ? allowed : []).map((item) => JSON.stringify(item)).join(', ');
  return `Unsupported value: ${formatJson(value)}: supported values: ${list}`;
}

function lengthCause(place: FieldWithSchema): Cause {
  const { field, schema, value } = place;
  const { minLength, maxLength } = schema;
  const length = typeof value === 'string' ? [...value].length : 0;
  if (typeof maxLength === 'number' && length > maxLength) {
    return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxLength} bytes`, field };
  }
  return invalidBody(place, `should be at least ${String(minLength)} chars long`);
}

function rangeText(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
  value: unknown,
): string {
  const number = typeof value === 'number' ? value : 0;
  if (typeof minimum === 'number' && (exclusiveMinimum === true ? number <= minimum : number < minimum)) {
    return `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`;
  }
  if (typeof maximum === 'number' && (exclusiveMaximum === true ? number >= maximum : number > maximum)) {
    return `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`;
  }
  return `should be a multiple of ${String(multipleOf)}`;
}

function itemsCause(place: FieldWithSchema): Cause {
  const { field, schema, value } = place;
  const isList = Array.isArray(value);
  const count = isList ? value.length : isObject(value) ? Object.keys(value).length : 0;
  const [least, most] = isList ? [schema.minItems, schema.maxItems] : [schema.minProperties, schema.maxProperties];
  if (typeof most === 'number' && count > most) {
    return { reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${most} items`, field };
  }
  const what = isList
    ? `should have at least ${String(least)} items`
    : `should have at least ${String(least)} properties`;
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${count}: ${field} in body ${what}`, field };
}

/** Creates the cause of a duplicate item. Items of a map are identified by their keys. */
function duplicateCause({ field, value }: FieldWithSchema, { pointer }: Finding, schema: JsonObject): Cause {
  const keys = schemaAt(schema, pointer.slice(0, pointer.lastIndexOf('/')))?.['x-kubernetes-list-map-keys'];
  const named = isObject(value) && Array.isArray(keys) ? keyFields(value, keys) : value;
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${formatJson(named)}`, field };
}

function keyFields(item: JsonObject, keys: readonly Json[]): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([key]) => keys.includes(key)));
}

/** Converts `/spec/ports/0/name` to `spec.ports[0].name`. */
export function fieldPath(pointer: string): string {
  return pointerTokens(pointer).reduce((path, token) => {
    if (/^[0-9]+$/.test(token)) return `${path}[${token}]`;
    return path === '' ? token : `${path}.${token}`;
  }, '');
}
