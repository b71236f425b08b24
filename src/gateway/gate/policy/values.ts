// Converts JSON values to Cedar values: integers to Long, other numbers to Decimal, lists to Set, objects to Record. If
// Cedar cannot express a value, every policy that reads the value denies.
//
// - Long: integers of 64 bits, and 5.0, which equals an integer.
// - Decimal: numbers with at most four digits after the point, as in Cedar's `decimal`. 0.12345 cannot be expressed.
// - Not expressible: null, texts with an unpaired surrogate or NUL, lists with an element that cannot be expressed, and
//   objects with a key that Cedar's JSON form reserves (`__entity`, `__extn`). Such an object could imitate an entity.

import { isObject } from '#std/json.ts';
import { foldKey } from '../../wire/json-members.ts';
import type { RawNumber } from './exact-json.ts';

export type CedarValue = boolean | number | string | RawNumber | CedarValue[] | { [key: string]: CedarValue };

/** Maximum depth of a value. Cedar's parser is recursive, so deeper values are not expressed. */
const DEPTH_MAX = 32;
/** Maximum absolute value of a decimal: Cedar stores ten-thousandths in a 64-bit integer. */
const DECIMAL_MAX = 922_337_203_685_477;
const DECIMAL = /^-?\d+\.\d{1,4}$/;
const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;
const RESERVED = '__';

/** Returns the Cedar value. undefined if Cedar cannot express the value. */
export function cedarValue(value: unknown, depth = 0): CedarValue | undefined {
  if (typeof value === 'string') return isPlain(value) ? value : undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return cedarNumber(value);
  if (JSON.isRawJSON(value)) return fitsLong(value.rawJSON) ? value : undefined;
  if (depth >= DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return cedarSet(value, depth + 1);
  return isObject(value) ? cedarRecord(value, depth + 1) : undefined;
}

/**
 * Returns the same text for all keys that some server would treat as one key. Go's encoding/json ignores case in all
 * scripts, and C strings end at NUL.
 */
export function foldedKey(key: string): string {
  const nul = key.indexOf('\0');
  return foldKey(nul < 0 ? key : key.slice(0, nul))
    .toUpperCase()
    .toLowerCase();
}

/** Returns whether all JSON readers read the text in the same way. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function cedarNumber(value: number): CedarValue | undefined {
  // Adding 0 turns -0 into 0.
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? value + 0 : undefined;
  const text = String(value);
  const decimal = Math.abs(value) < DECIMAL_MAX && DECIMAL.test(text);
  return decimal ? { __extn: { fn: 'decimal', arg: text } } : undefined;
}

function fitsLong(text: string): boolean {
  if (text.length > 20) return false;
  const value = BigInt(text);
  return value >= LONG_MIN && value <= LONG_MAX;
}

function cedarSet(list: readonly unknown[], depth: number): CedarValue | undefined {
  const set: CedarValue[] = [];
  for (const element of list) {
    const value = cedarValue(element, depth);
    if (value === undefined) return undefined;
    set.push(value);
  }
  return set;
}

/** Converts an object. Treats members that are null as absent. */
function cedarRecord(object: object, depth: number): CedarValue | undefined {
  const record: { [key: string]: CedarValue } = Object.create(null);
  const folded = new Set<string>();
  for (const [key, member] of Object.entries(object)) {
    if (key.startsWith(RESERVED) || !isPlain(key) || folded.has(foldedKey(key))) return undefined;
    folded.add(foldedKey(key));
    if (member === null) continue;
    const value = cedarValue(member, depth);
    if (value === undefined) return undefined;
    record[key] = value;
  }
  return record;
}
