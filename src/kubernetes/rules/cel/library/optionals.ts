// Adds functions and comparisons that the engine lacks, for optional values and for bytes. Source: cel-go,
// cel.OptionalTypes.

import type { Optional } from '@marcbachmann/cel-js';
import { equals } from '../equality.ts';
import { optionalOf } from '../package.ts';
import { itemsOf, type Library } from './library.ts';
import { compareItems } from './lists.ts';

export const OPTIONAL_LIBRARY: Library = {
  functions: {
    'OptionalNamespace.ofNonZeroValue(A): optional<A>': (_: unknown, value: unknown) =>
      optionalOf(isZeroValue(value) ? undefined : value),
  },
  operators: {
    'optional<A> == optional<A>': (a: Optional, b: Optional) =>
      a.hasValue() === b.hasValue() && (!a.hasValue() || equals(a.value(), b.value())),
    // The compiler treats optionals as opaque types, which may be compared with null.
    'optional == null': () => false,
    'bytes < bytes': (a: Uint8Array, b: Uint8Array) => compareItems(a, b) < 0,
    'bytes <= bytes': (a: Uint8Array, b: Uint8Array) => compareItems(a, b) <= 0,
    'bytes > bytes': (a: Uint8Array, b: Uint8Array) => compareItems(a, b) > 0,
    'bytes >= bytes': (a: Uint8Array, b: Uint8Array) => compareItems(a, b) >= 0,
  },
};

function isZeroValue(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === 0n || value === false) return true;
  if (Array.isArray(value) || value instanceof Set) return itemsOf(value).length === 0;
  if (value instanceof Map) return value.size === 0;
  return typeof value === 'object' && !(value instanceof Uint8Array) && Object.keys(value).length === 0;
}
