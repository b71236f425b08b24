// Reads the members of a JSON object strictly. Stores the positions of known keys' values, and refuses keys that two
// JSON readers could read differently (repeated, in another letter case, with escapes).

import {
  DUPLICATE_KEY,
  ESCAPED_KEY,
  faultAt,
  type JsonBytes,
  LONE_SURROGATE,
  OTHER_CASE,
  SYNTAX,
  skipColon,
  skipSpace,
  skipString,
  skipValue,
  TOO_MANY_KEYS,
} from './json-bytes.ts';

/**
 * Maximum number of unknown keys in one object. Each key is decoded and stored, so megabytes of short keys would take a
 * quarter of a second.
 */
const UNKNOWN_KEYS_MAX = 1000;

/** Known keys of one object level. Each known key has two slots for the position of its value. */
export interface KeyLevel {
  readonly known: readonly KnownKey[];
  /** Known keys, indexed by their length in bytes. */
  readonly byLength: readonly (readonly KnownKey[] | undefined)[];
  readonly folded: ReadonlySet<string>;
  /** End (exclusive) of the slots of this level and of its nested levels. */
  readonly to: number;
}

interface KnownKey {
  readonly name: string;
  readonly bytes: Buffer;
  /** Slot for the start of the value. The next slot contains the end of the value. */
  readonly slot: number;
  /** Level for the members of the value. If set, a value that is an object is read strictly. */
  readonly nested: KeyLevel | undefined;
}

/** Creates a level. `slot` is the first free slot. `nested` contains levels for the values of some of the names. */
export function keyLevel(
  slot: number,
  names: readonly string[],
  nested: Readonly<Record<string, KeyLevel>> = {},
): KeyLevel {
  const known = names.map((name, index) => ({
    name,
    bytes: Buffer.from(name),
    slot: slot + 2 * index,
    nested: nested[name],
  }));
  const byLength: KnownKey[][] = [];
  for (const key of known) byLength[key.bytes.length] = [...(byLength[key.bytes.length] ?? []), key];
  const to = Math.max(slot + 2 * names.length, ...Object.values(nested).map((level) => level.to));
  return { known, byLength, folded: new Set(names.map(foldKey)), to };
}

export function slotOf(level: KeyLevel, name: string): number {
  const key = level.known.find((each) => each.name === name);
  return key?.slot ?? -1;
}

/**
 * Folds a key like JSON readers that ignore letter case. Go's encoding/json folds by Unicode, so U+017F becomes s and
 * U+212A becomes k. Other readers fold U+0130 and U+0131 to i.
 */
export function foldKey(key: string): string {
  return key.replace(/[A-Z\u017f\u212a\u0130\u0131]/g, (letter) => FOLDED[letter] ?? letter.toLowerCase());
}

const FOLDED: Readonly<Record<string, string>> = { '\u017f': 's', '\u212a': 'k', '\u0130': 'i', '\u0131': 'i' };

/**
 * Decodes the text between two quotes. Returns undefined for an unpaired surrogate, which JSON readers replace in
 * different ways.
 */
export function decodeString({ bytes }: JsonBytes, start: number, end: number): string | undefined {
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start, end);
  const text: unknown = JSON.parse(bytes.toString('utf8', start - 1, end + 1));
  return typeof text === 'string' && text.isWellFormed() ? text : undefined;
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > 64) return bytes.subarray(start, end).includes(0x5c);
  for (let pos = start; pos < end; pos += 1) {
    if (bytes[pos] === 0x5c) return true;
  }
  return false;
}

/**
 * Reads the object at `from`, and stores the positions of known keys' values in `slots` (0 if absent). Values of
 * unknown keys are only checked to be valid JSON. Returns the position after the object, or a fault.
 */
export function readMembers(
  source: JsonBytes,
  from: number,
  end: number,
  depth: number,
  level: KeyLevel,
  slots: Int32Array,
): number {
  const { bytes } = source;
  let unknown: Set<string> | undefined;
  let pos = skipSpace(bytes, from + 1, end);
  if (pos < end && bytes[pos] === 0x7d) return pos + 1;
  for (;;) {
    if (pos >= end || bytes[pos] !== 0x22) return faultAt(pos, SYNTAX);
    const close = skipString(source, pos + 1, end);
    if (close < 0) return close;
    const key = knownKey(bytes, pos + 1, close, level);
    if (key === undefined) {
      const text = unknownKey(source, pos + 1, close, level);
      if (typeof text === 'number') return text;
      if (unknown === undefined) unknown = new Set([text]);
      else if (unknown.size === unknown.add(text).size) return faultAt(pos, DUPLICATE_KEY);
      else if (unknown.size > UNKNOWN_KEYS_MAX) return faultAt(pos, TOO_MANY_KEYS);
    }
    const start = skipColon(bytes, close + 1, end);
    if (start < 0) return start;
    const nested = start < end && bytes[start] === 0x7b ? key?.nested : undefined;
    const after =
      nested === undefined
        ? skipValue(source, start, end, depth + 1)
        : readMembers(source, start, end, depth + 1, nested, slots);
    if (after < 0) return after;
    if (key !== undefined) {
      if (slots[key.slot] !== 0) return faultAt(pos, DUPLICATE_KEY);
      slots[key.slot] = start;
      slots[key.slot + 1] = after;
    }
    pos = skipSpace(bytes, after, end);
    if (pos < end && bytes[pos] === 0x7d) return pos + 1;
    if (pos >= end || bytes[pos] !== 0x2c) return faultAt(pos, SYNTAX);
    pos = skipSpace(bytes, pos + 1, end);
  }
}

function knownKey(bytes: Buffer, start: number, end: number, level: KeyLevel): KnownKey | undefined {
  const candidates = level.byLength[end - start];
  if (candidates === undefined) return undefined;
  next: for (const key of candidates) {
    for (let at = 0; at < key.bytes.length; at += 1) {
      if (bytes[start + at] !== key.bytes[at]) continue next;
    }
    return key;
  }
  return undefined;
}

/**
 * Returns the text of an unknown key. Returns a fault if another reader could read the key as a known key (C strings
 * end at NUL).
 */
function unknownKey(source: JsonBytes, start: number, end: number, level: KeyLevel): string | number {
  const text = decodeString(source, start, end);
  if (text === undefined) return faultAt(start - 1, LONE_SURROGATE);
  if (text.includes('\0')) return faultAt(start - 1, ESCAPED_KEY);
  if (!level.folded.has(foldKey(text))) return text;
  return faultAt(start - 1, level.known.some(({ name }) => name === text) ? ESCAPED_KEY : OTHER_CASE);
}
