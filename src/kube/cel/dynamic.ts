// JSON as expressions see it where no schema says more: whole numbers are ints, all others doubles. Knows nothing about
// expressions.

import { isObject, type Json } from '../../std/json.ts';

export function dynamicValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(dynamicValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, dynamicValue(field)]])),
  );
}

/** A field that is worked out when it is asked for, once. */
export function lazyField(object: object, name: string, read: () => unknown): void {
  let known: { readonly value: unknown } | undefined;
  Object.defineProperty(object, name, {
    enumerable: true,
    configurable: true,
    get() {
      known ??= { value: read() };
      return known.value;
    },
  });
}
