// Validates a JSON value that a decision depends on. Refuses keys and texts that two JSON readers could read
// differently.

import {
  DUPLICATE_KEY,
  faultAt,
  type JsonBytes,
  LONE_SURROGATE,
  MAX_DEPTH,
  OTHER_CASE,
  SYNTAX,
  skipColon,
  skipSpace,
  skipString,
  skipValue,
  TOO_DEEP,
  TOO_MANY_KEYS,
} from './json-bytes.ts';
import { decodeString, foldKey } from './json-members.ts';
import type { Span } from './message.ts';

export interface StrictOptions {
  /** If true, nested objects and arrays are also validated. Otherwise only the outermost object is validated. */
  readonly deep?: boolean;
  /**
   * Keys of the outermost object that the caller will read. No key may differ from these keys only in letter case. If
   * absent, no two keys may differ only in letter case.
   */
  readonly known?: readonly string[];
  /** Maximum number of keys in the outermost object. Unlimited if absent. */
  readonly keysMax?: number;
  /** Receives each member of the outermost object. */
  readonly member?: (key: string, value: Span) => void;
}

/**
 * Returns the position after the value at `from`, or a fault. `depth` is the number of objects and arrays around the
 * value.
 */
export function readStrict(
  source: JsonBytes,
  from: number,
  end: number,
  depth: number,
  options: StrictOptions,
): number {
  const { deep = false, known, keysMax, member } = options;
  const names = known === undefined ? undefined : new Map(known.map((name) => [foldKey(name), name]));
  return readValueStrict(source, from, end, depth, deep, { names, keysMax, member });
}

/** Rules for the keys of the outermost object. */
interface KeyRules {
  /** `known` of the options, by folded key. */
  readonly names?: ReadonlyMap<string, string>;
  readonly keysMax?: number;
  readonly member?: (key: string, value: Span) => void;
}

const NO_RULES: KeyRules = {};

function readValueStrict(
  source: JsonBytes,
  from: number,
  end: number,
  depth: number,
  deep: boolean,
  rules: KeyRules = NO_RULES,
): number {
  const byte = from < end ? source.bytes[from] : 0;
  if (byte === 0x22) return readText(source, from, end);
  if (byte === 0x7b) return readObject(source, from, end, depth, deep, rules);
  if (byte === 0x5b && deep) return readArray(source, from, end, depth);
  return skipValue(source, from, end, depth);
}

function readText(source: JsonBytes, from: number, end: number): number {
  const close = skipString(source, from + 1, end);
  if (close < 0) return close;
  return decodeString(source, from + 1, close) === undefined ? faultAt(from, LONE_SURROGATE) : close + 1;
}

function readArray(source: JsonBytes, from: number, end: number, depth: number): number {
  const { bytes } = source;
  if (depth >= MAX_DEPTH) return faultAt(from, TOO_DEEP);
  let pos = skipSpace(bytes, from + 1, end);
  if (pos < end && bytes[pos] === 0x5d) return pos + 1;
  for (;;) {
    const after = readValueStrict(source, pos, end, depth + 1, true);
    if (after < 0) return after;
    pos = skipSpace(bytes, after, end);
    if (pos < end && bytes[pos] === 0x5d) return pos + 1;
    if (pos >= end || bytes[pos] !== 0x2c) return faultAt(pos, SYNTAX);
    pos = skipSpace(bytes, pos + 1, end);
  }
}

function readObject(
  source: JsonBytes,
  from: number,
  end: number,
  depth: number,
  deep: boolean,
  rules: KeyRules,
): number {
  const { bytes } = source;
  if (depth >= MAX_DEPTH) return faultAt(from, TOO_DEEP);
  const seen = new Set<string>();
  let pos = skipSpace(bytes, from + 1, end);
  if (pos < end && bytes[pos] === 0x7d) return pos + 1;
  for (;;) {
    const close = pos < end && bytes[pos] === 0x22 ? skipString(source, pos + 1, end) : faultAt(pos, SYNTAX);
    if (close < 0) return close;
    const key = decodeString(source, pos + 1, close);
    if (key === undefined) return faultAt(pos, LONE_SURROGATE);
    const unclear = checkKey(key, pos, seen, rules);
    if (unclear !== 0) return unclear;
    const start = skipColon(bytes, close + 1, end);
    if (start < 0) return start;
    const open = start < end && (bytes[start] === 0x7b || bytes[start] === 0x5b);
    const after =
      open && !deep ? skipValue(source, start, end, depth + 1) : readValueStrict(source, start, end, depth + 1, deep);
    if (after < 0) return after;
    rules.member?.(key, { start, end: after });
    pos = skipSpace(bytes, after, end);
    if (pos < end && bytes[pos] === 0x7d) return pos + 1;
    if (pos >= end || bytes[pos] !== 0x2c) return faultAt(pos, SYNTAX);
    pos = skipSpace(bytes, pos + 1, end);
  }
}

/** Validates a key. Returns 0 or a fault. */
function checkKey(text: string, quote: number, seen: Set<string>, { names, keysMax }: KeyRules): number {
  const folded = foldKey(text);
  const known = names?.get(folded);
  if (known !== undefined && known !== text) return faultAt(quote, OTHER_CASE);
  const size = seen.size;
  seen.add(names === undefined ? folded : text);
  if (seen.size === size) return faultAt(quote, DUPLICATE_KEY);
  return keysMax !== undefined && seen.size > keysMax ? faultAt(quote, TOO_MANY_KEYS) : 0;
}
