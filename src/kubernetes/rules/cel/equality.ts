// Compares two CEL values.

import type { Ip } from '../formats/ip.ts';
import { CelCidr, CelDuration, CelIp, CelQuantity, CelSemver, CelTimestamp } from './tagged.ts';

/** Numbers of different types are equal if their numeric values are equal. All other values must have the same type. */
export function equals(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return numeric(a) === numeric(b) || Number(a) === Number(b);
  if (isList(a) && isList(b)) return equalLists(a, b);
  if (a instanceof Map && b instanceof Map) return equalMaps(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a.constructor !== b.constructor) return false;
  return equalObjects(a, b);
}

function isNumber(value: unknown): value is bigint | number | { valueOf(): bigint } {
  return typeof value === 'bigint' || typeof value === 'number' || isUnsigned(value);
}

/** The engine does not export its class for `uint`. */
function isUnsigned(value: unknown): value is { valueOf(): bigint } {
  return typeof value === 'object' && value !== null && typeof value.valueOf() === 'bigint';
}

function numeric(value: bigint | number | { valueOf(): bigint }): bigint | number {
  return typeof value === 'object' ? value.valueOf() : value;
}

function isList(value: unknown): value is readonly unknown[] | ReadonlySet<unknown> {
  return Array.isArray(value) || value instanceof Set;
}

/** Ignores the order if the left list is a Set, which is the value of a list with `x-kubernetes-list-type: set`. */
function equalLists(
  a: readonly unknown[] | ReadonlySet<unknown>,
  b: readonly unknown[] | ReadonlySet<unknown>,
): boolean {
  const [left, right] = [[...a], [...b]];
  if (left.length !== right.length) return false;
  if (a instanceof Set) return left.every((item) => right.some((other) => equals(item, other)));
  return left.every((item, index) => equals(item, right[index]));
}

function equalMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !equals(value, b.get(key))) return false;
  return true;
}

function equalObjects(a: object, b: object): boolean {
  if (a instanceof CelDuration && b instanceof CelDuration) return a.value === b.value;
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return a.value === b.value;
  if (a instanceof CelQuantity && b instanceof CelQuantity) return a.value.nano === b.value.nano;
  if (a instanceof CelIp && b instanceof CelIp) return sameIp(a.value, b.value);
  if (a instanceof CelCidr && b instanceof CelCidr) {
    return sameIp(a.value.ip, b.value.ip) && a.value.prefix === b.value.prefix;
  }
  if (a instanceof CelSemver && b instanceof CelSemver) {
    return (
      String(a.value.numbers) === String(b.value.numbers) && String(a.value.prerelease) === String(b.value.prerelease)
    );
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return equalFields(a, b);
}

function sameIp(a: Ip, b: Ip): boolean {
  return a.version === b.version && a.bits === b.bits;
}

/** Compares objects of a schema by their present fields. */
function equalFields(a: object, b: object): boolean {
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return equalMaps(left, right);
}
