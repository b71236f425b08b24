// Converts JSON without a schema to CEL values: whole numbers become ints, fractions become doubles.

import { isObject, type Json } from '#std/json.ts';

export function dynamicValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(dynamicValue);
  if (!isObject(value)) return value;
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field === undefined) continue;
    // An assignment to this key would set the prototype.
    if (key === '__proto__') Object.defineProperty(fields, key, { value: dynamicValue(field), enumerable: true });
    else fields[key] = dynamicValue(field);
  }
  return fields;
}
