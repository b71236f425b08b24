// Checks objects of built-in kinds against their published schemas as an API server does: unknown fields, wrong JSON
// types, missing required fields, and values outside an enum.

import { didYouMean } from '#std/closest.ts';
import { isObject, type Json, type JsonObject, pointerToken } from '#std/json.ts';
import type { Finding } from '../finding.ts';
import { parseQuantity } from '../formats/quantity.ts';
import { parseTimestamp } from '../formats/timestamp.ts';
import type { OpenApiDocument, OpenApiSchema } from '../openapi.ts';
import { reportRepeatedItems } from './builtin-lists.ts';
import { notRequired } from './not-required.ts';
import { fieldPath } from './path.ts';
import { type Report, report, wrongType } from './report.ts';

const REFERENCE = '#/components/schemas/';

/** Returns undefined if the document does not have the kind. */
export function checkBuiltin(
  document: OpenApiDocument,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  object: JsonObject,
): readonly Finding[] | undefined {
  const found = Object.entries(document.components.schemas).find(([, candidate]) =>
    candidate['x-kubernetes-group-version-kind']?.some(
      (known) => known.group === group && known.version === version && known.kind === kind,
    ),
  );
  if (found === undefined) return undefined;
  const [name, schema] = found;
  const out: Report = { findings: [] };
  const walk = { out, document };
  checkFields(walk, schema, object, '', kind, new Set(['/metadata']));
  checkRequired(walk, name, schema, object, '');
  return out.findings;
}

interface BuiltinCheck {
  readonly out: Report;
  readonly document: OpenApiDocument;
}

function checkFields(
  walk: BuiltinCheck,
  schema: OpenApiSchema,
  object: JsonObject,
  pointer: string,
  where: string,
  skipped: ReadonlySet<string>,
): void {
  const { properties, additionalProperties } = schema;
  for (const [name, value] of Object.entries(object)) {
    const inner = `${pointer}/${pointerToken(name)}`;
    if (value === undefined || skipped.has(inner)) continue;
    const field = properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (field !== undefined) checkValue(walk, field, value, inner);
    else if (properties !== undefined && additionalProperties === undefined) {
      unknownField(walk.out, inner, name, where, Object.keys(properties));
    }
  }
}

function unknownField(out: Report, pointer: string, name: string, where: string, known: readonly string[]): void {
  const message = `${where} has no field "${name}".${didYouMean(name, known)}`;
  out.findings.push({ code: 'schema-unknown-field', severity: 'error', pointer, message, at: 'key' });
}

/** Reports missing required fields. Null counts as absent. Skips fields in a status, because the server writes it. */
function checkRequired(
  walk: BuiltinCheck,
  type: string,
  schema: OpenApiSchema,
  object: JsonObject,
  pointer: string,
): void {
  const optional = notRequired(type);
  for (const name of schema.required ?? []) {
    if ((object[name] ?? null) !== null || optional.includes(name) || /\/status(\/|$)/.test(pointer)) continue;
    report(walk.out, 'schema-required', `${pointer}/${pointerToken(name)}`, 'is required.');
  }
}

/** Null counts as absent in every field of a built-in kind. */
function checkValue(walk: BuiltinCheck, schema: OpenApiSchema, value: Json, pointer: string): void {
  const { name, target } = resolved(walk.document, schema);
  if (value === null || target === undefined || target['x-kubernetes-preserve-unknown-fields'] === true) return;
  const fault = typeFault(target, value);
  if (fault !== undefined) {
    report(walk.out, 'schema-type', pointer, wrongType(fault, value));
    return;
  }
  if (target.enum !== undefined && typeof value === 'string') checkWord(walk.out, target.enum, value, pointer);
  const wrong = textFault(target, value);
  if (wrong !== undefined) report(walk.out, 'schema-format', pointer, `must be ${wrong}.`);
  if (isObject(value)) {
    checkFields(walk, target, value, pointer, fieldPath(pointer), new Set());
    checkRequired(walk, name, target, value, pointer);
  }
  if (!Array.isArray(value) || target.items === undefined) return;
  for (const [index, item] of value.entries()) checkValue(walk, target.items, item, `${pointer}/${index}`);
  if (!/\/status(\/|$)/.test(pointer)) {
    reportRepeatedItems(walk.out, target, resolved(walk.document, target.items).target, value, pointer);
  }
}

/** Checks a value of an enum. Empty text counts as absent, as null does. */
function checkWord(out: Report, words: readonly string[], value: string, pointer: string): void {
  if (value === '' || words.includes(value)) return;
  const list = words.map((word) => JSON.stringify(word)).join(', ');
  report(out, 'schema-enum', pointer, `must be one of ${list}.${didYouMean(value, words)}`);
}

/** Returns the schema and the name of its published type. The name is empty for an inline schema. */
function resolved(
  document: OpenApiDocument,
  schema: OpenApiSchema,
): { readonly name: string; readonly target: OpenApiSchema | undefined } {
  const [only, ...others] = schema.allOf ?? [];
  const reference = schema.$ref ?? (others.length === 0 ? only?.$ref : undefined);
  if (reference === undefined) return { name: '', target: schema };
  const name = reference.startsWith(REFERENCE) ? reference.slice(REFERENCE.length) : '';
  return { name, target: document.components.schemas[name] };
}

/** Returns the expected type if the value has another JSON type. */
function typeFault(schema: OpenApiSchema, value: Json): string | undefined {
  const { type, oneOf, format } = schema;
  if (oneOf !== undefined) {
    const fits = oneOf.some((alternative) => typeFault(alternative, value) === undefined);
    return fits ? undefined : oneOf.map((alternative) => typeFault(alternative, value)).join(' or ');
  }
  switch (type) {
    case 'string':
      return typeof value === 'string' ? undefined : 'a string';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'number':
      return typeof value === 'number' ? undefined : 'a number';
    case 'integer':
      return isInteger(value, format) ? undefined : format === 'int32' ? 'an integer of 32 bits' : 'an integer';
    case 'array':
      return Array.isArray(value) ? undefined : 'a list';
    case 'object':
      return isObject(value) ? undefined : 'a mapping';
    default:
      return undefined;
  }
}

function isInteger(value: Json, format: string | undefined): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

/** Returns the expected format if the server's decoder cannot parse the text. */
function textFault(schema: OpenApiSchema, value: Json): string | undefined {
  if (typeof value === 'string' && schema.format === 'byte' && !isBase64(value)) return 'base64 text';
  if (typeof value === 'string' && schema.format === 'date-time' && parseTimestamp(value) === undefined) {
    return 'a time such as 2026-01-31T12:00:00Z';
  }
  if (isQuantity(schema) && (typeof value === 'string' || typeof value === 'number')) {
    return parseQuantity(String(value)) === undefined ? 'a quantity such as 500m or 1Gi' : undefined;
  }
  return undefined;
}

/**
 * True if the text is base64. As in Go's encoding/base64, line breaks may be anywhere. Other characters are not
 * allowed.
 */
function isBase64(text: string): boolean {
  const packed = text.replaceAll(/[\r\n]/g, '');
  return packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed);
}

/** True if the type is a quantity, the only type that accepts a string or a number. */
function isQuantity({ oneOf }: OpenApiSchema): boolean {
  return oneOf?.some(({ type }) => type === 'number') === true;
}
