// Compares values in Go templates. Source: Go 1.26, text/template, "Functions". Go cannot compare an integer with a
// float. This code compares both as numbers, because JSON does not distinguish them.

import { stop } from './budget.ts';
import { compareTexts, isList, isMap, typeName, type Value } from './values.ts';

type Basic = boolean | bigint | number | string;

export function equalsAny(value: Value, others: readonly Value[]): boolean {
  if (others.length === 0) stop('eq: a second value is missing');
  return others.some((other) => equals(value, other));
}

export function equals(a: Value, b: Value): boolean {
  const [x, y] = [basic(a), basic(b)];
  if (x !== undefined && y !== undefined) {
    if (!comparable(x, y)) stop(`a value of type ${typeName(x)} is not comparable with one of type ${typeName(y)}`);
    // biome-ignore lint/suspicious/noDoubleEquals: 3n == 3
    return x == y;
  }
  if (x !== undefined || y !== undefined) {
    const other = x === undefined ? a : b;
    if (isList(other) || isMap(other)) stop(`a value of type ${typeName(other)} is not comparable`);
    return false;
  }
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  return stop(`values of type ${typeName(a)} are not comparable`);
}

export function isLess(a: Value, b: Value): boolean {
  const [x, y] = [basic(a), basic(b)];
  if (x === undefined || y === undefined || typeof x === 'boolean' || typeof y === 'boolean' || !comparable(x, y)) {
    return stop(`a value of type ${typeName(a)} has no order with one of type ${typeName(b)}`);
  }
  return typeof x === 'string' && typeof y === 'string' ? compareTexts(x, y) < 0 : x < y;
}

export function isLessOrEqual(a: Value, b: Value): boolean {
  return isLess(a, b) || equals(a, b);
}

function basic(value: Value): Basic | undefined {
  return typeof value === 'object' ? undefined : value;
}

function isNothing(value: Value): boolean {
  return value === undefined || value === null;
}

function isNumber(value: Basic): boolean {
  return typeof value === 'bigint' || typeof value === 'number';
}

function comparable(a: Basic, b: Basic): boolean {
  return typeof a === typeof b || (isNumber(a) && isNumber(b));
}
