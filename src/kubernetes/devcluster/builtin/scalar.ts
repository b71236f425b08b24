// Decodes scalars of built-in types: accepted values, stored forms and zero values.

import { isObject, type Json } from '#std/json.ts';
import type { OpenApiSchema } from '../../rules/openapi.ts';
import { storedQuantity } from '../../rules/quantity.ts';

/** The stored form of a value. For a refused value, the expected type or the message of the server's decoder. */
type Scalar = { readonly value: Json } | { readonly expected: string } | { readonly fault: string };

/** `name` is the schema's name, which identifies quantities and MicroTimes. */
export function decodeScalar(schema: OpenApiSchema, name: string, value: Json): Scalar {
  if (name.endsWith('.Quantity')) return decodeQuantity(value);
  if (name.endsWith('.MicroTime')) return decodeTime(value, 'micro');
  if (schema.format === 'date-time') return decodeTime(value, 'seconds');
  if (schema.format === 'int-or-string') return decodeIntOrString(value);
  if (schema.format === 'byte') return decodeBytes(value);
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? { value } : { expected: 'string' };
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { expected: 'bool' };
    case 'integer':
      return decodeInteger(schema.format ?? 'int64', value);
    case 'number':
      return typeof value === 'number' ? { value } : { expected: 'float64' };
    default:
      return { value };
  }
}

/** Decodes an integer. Excludes 2^63, because no double can represent the largest 64-bit integer, 2^63 - 1. */
function decodeInteger(format: string, value: Json): Scalar {
  const bound = format === 'int32' ? 2 ** 31 : 2 ** 63;
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= -bound && value < bound;
  return fits ? { value } : { expected: format };
}

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

function decodeQuantity(value: Json): Scalar {
  if (typeof value !== 'number' && typeof value !== 'string') return { expected: 'resource.Quantity' };
  if (!QUANTITY.test(String(value)))
    return { fault: `quantities must match the regular expression '${QUANTITY.source}'` };
  return { value: storedQuantity(value) ?? String(value) };
}

function decodeIntOrString(value: Json): Scalar {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return { value };
  return { expected: 'int32' };
}

/** Decodes standard base64, ignoring line breaks. */
function decodeBytes(value: Json): Scalar {
  if (typeof value !== 'string') return { expected: '[]uint8' };
  const text = value.replaceAll(/[\r\n]/g, '');
  const [good = ''] = /^[A-Za-z0-9+/]*/.exec(text) ?? [];
  const padding = text.slice(good.length);
  const valid = text.length % 4 === 0 && /^={0,2}$/.test(padding);
  return valid ? { value: text } : { fault: `illegal base64 data at input byte ${good.length}` };
}

/** Decodes RFC 3339. The server stores times in UTC with whole seconds (`Time`) or six decimals (`MicroTime`). */
function decodeTime(value: Json, precision: 'seconds' | 'micro'): Scalar {
  if (typeof value !== 'string') return { expected: 'string' };
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.exec(value);
  const epochMs = Date.parse(value);
  const fraction = match?.[1] ?? '';
  const fits = precision === 'seconds' || fraction.length === '.000000'.length;
  if (match === null || Number.isNaN(epochMs) || !fits) return { fault: unparsedTime(value, precision) };
  const seconds = new Date(epochMs).toISOString().slice(0, 19);
  return { value: precision === 'seconds' ? `${seconds}Z` : `${seconds}${fraction}Z` };
}

/** Returns the message of the server's time parser, which contains the unparsed remainder of the text. */
function unparsedTime(value: string, precision: 'seconds' | 'micro'): string {
  const layout = precision === 'seconds' ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00';
  const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(value)?.[0] ?? '';
  const rest = value.slice(date.length);
  const goLayout = date === '' ? '2006' : precision === 'micro' ? '.000000' : 'Z07:00';
  const quoted = JSON.stringify(value);
  return `parsing time ${quoted} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(goLayout)}`;
}

export function isZero(value: Json): boolean {
  return value === null || value === '' || value === 0 || value === false;
}

/** Returns the value that replaces null in a list or map. */
export function zeroOf(schemas: Readonly<Record<string, OpenApiSchema>>, schema: OpenApiSchema): Json {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (typeof target === 'string') {
    const named = schemas[target.slice(target.lastIndexOf('/') + 1)];
    return named === undefined ? null : zeroOf(schemas, named);
  }
  if (schema.default !== undefined) return isObject(schema.default) ? {} : schema.default;
  switch (schema.type) {
    case 'object':
      return {};
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    default:
      return null;
  }
}
