// Scans JSON (RFC 8259) as bytes. Validates values and finds where they end, without building the values. The bytes
// must be valid UTF-8.

/** Maximum depth of nested objects and arrays, including the outermost. */
export const MAX_DEPTH = 256;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;

/** Bytes, with a view that reads four bytes at once. */
export interface JsonBytes {
  readonly bytes: Buffer;
  readonly view: DataView;
}

export function openSource(bytes: Buffer): JsonBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

/**
 * Reasons why a scan stops. Functions of this file return a position, or a negative number that encodes the position
 * and the reason of a fault.
 */
export const SYNTAX = 0;
export const TOO_DEEP = 1;
export const DUPLICATE_KEY = 2;
export const OTHER_CASE = 3;
export const ESCAPED_KEY = 4;
export const LONE_SURROGATE = 5;
export const TOO_MANY_KEYS = 6;

const REASONS = [SYNTAX, TOO_DEEP, DUPLICATE_KEY, OTHER_CASE, ESCAPED_KEY, LONE_SURROGATE, TOO_MANY_KEYS] as const;

export type FaultReason = (typeof REASONS)[number];

export function faultAt(position: number, reason: FaultReason): number {
  return -(position * 8 + reason + 1);
}

export function faultPosition(fault: number): number {
  return Math.floor((-fault - 1) / 8);
}

export function faultReason(fault: number): FaultReason {
  return REASONS[(-fault - 1) % 8] ?? SYNTAX;
}

export function skipSpace(bytes: Buffer, from: number, end: number): number {
  let pos = from;
  while (pos < end) {
    const byte = bytes[pos] ?? 0;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return pos;
    pos += 1;
  }
  return pos;
}

/**
 * Returns the position of the closing quote. `from` is the first byte after the opening quote.
 * Reads eight bytes at once. The highest bit of a byte in `lowHit` or `highHit` is set if the byte is a quote or a
 * control character (`x ^ 2` is below 0x21) or a backslash (`x ^ 0x5c` is 0). A borrow can only set wrong bits above
 * the first true bit, so the lowest set bit is always correct.
 */
export function skipString(source: JsonBytes, from: number, end: number): number {
  const { bytes, view } = source;
  const last = end - 8;
  let pos = from;
  for (;;) {
    while (pos <= last) {
      const low = view.getInt32(pos, true);
      const high = view.getInt32(pos + 4, true);
      const lowHit = (((low ^ 0x02020202) - 0x21212121) | ((low ^ 0x5c5c5c5c) - 0x01010101)) & ~low & 0x80808080;
      const highHit = (((high ^ 0x02020202) - 0x21212121) | ((high ^ 0x5c5c5c5c) - 0x01010101)) & ~high & 0x80808080;
      if ((lowHit | highHit) !== 0) {
        pos += lowHit === 0 ? 4 + lowestByte(highHit) : lowestByte(lowHit);
        break;
      }
      pos += 8;
    }
    if (pos >= end) return faultAt(end, SYNTAX);
    const byte = bytes[pos] ?? 0;
    if (byte === QUOTE) return pos;
    if (byte < 0x20) return faultAt(pos, SYNTAX);
    if (byte !== BACKSLASH) {
      pos += 1;
      continue;
    }
    const next = skipEscape(bytes, pos, end);
    if (next < 0) return next;
    // `| 0` keeps the position a 32-bit integer for the compiler, in all functions of this file.
    pos = next | 0;
  }
}

/** Returns the index, from 0 to 3, of the byte that contains the lowest set bit. */
function lowestByte(hit: number): number {
  return (31 - Math.clz32(hit & -hit)) >> 3;
}

function skipEscape(bytes: Buffer, at: number, end: number): number {
  if (at + 2 > end) return faultAt(end, SYNTAX);
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 2;
    case 0x75:
      break;
    default:
      return faultAt(at + 1, SYNTAX);
  }
  if (at + 6 > end) return faultAt(end, SYNTAX);
  for (let pos = at + 2; pos < at + 6; pos += 1) {
    const byte = bytes[pos] ?? 0;
    const hex = (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
    if (!hex) return faultAt(pos, SYNTAX);
  }
  return at + 6;
}

function skipDigits(bytes: Buffer, from: number, end: number): number {
  let pos = from;
  while (pos < end) {
    const byte = bytes[pos] ?? 0;
    if (byte < 0x30 || byte > 0x39) break;
    pos += 1;
  }
  return pos === from ? faultAt(pos, SYNTAX) : pos;
}

/** Returns the position after a number (RFC 8259 section 6). `from` is a minus sign or a digit. */
function skipNumber(bytes: Buffer, from: number, end: number): number {
  const first = bytes[from] === 0x2d ? from + 1 : from;
  let pos = skipDigits(bytes, first, end);
  if (pos < 0) return pos;
  if (bytes[first] === 0x30 && pos > first + 1) return faultAt(first, SYNTAX);
  if (pos < end && bytes[pos] === 0x2e) {
    pos = skipDigits(bytes, pos + 1, end);
    if (pos < 0) return pos;
  }
  if (pos < end && ((bytes[pos] ?? 0) | 0x20) === 0x65) {
    pos += 1;
    if (pos < end && (bytes[pos] === 0x2b || bytes[pos] === 0x2d)) pos += 1;
    pos = skipDigits(bytes, pos, end);
  }
  return pos;
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

function skipLiteral(bytes: Buffer, from: number, end: number, literal: Buffer): number {
  if (from + literal.length > end) return faultAt(end, SYNTAX);
  for (let at = 1; at < literal.length; at += 1) {
    if (bytes[from + at] !== literal[at]) return faultAt(from + at, SYNTAX);
  }
  return from + literal.length;
}

/** Returns the position after a value that is neither an object nor an array. */
function skipScalar(source: JsonBytes, from: number, end: number): number {
  const { bytes } = source;
  if (from >= end) return faultAt(end, SYNTAX);
  const byte = bytes[from] ?? 0;
  if (byte === QUOTE) {
    const close = skipString(source, from + 1, end);
    return close < 0 ? close : close + 1;
  }
  if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return skipNumber(bytes, from, end);
  if (byte === 0x74) return skipLiteral(bytes, from, end, TRUE);
  if (byte === 0x66) return skipLiteral(bytes, from, end, FALSE);
  if (byte === 0x6e) return skipLiteral(bytes, from, end, NULL);
  return faultAt(from, SYNTAX);
}

/** Returns the position of a member's value. `from` is the first byte after the closing quote of the key. */
export function skipColon(bytes: Buffer, from: number, end: number): number {
  const colon = skipSpace(bytes, from, end);
  if (colon >= end || bytes[colon] !== COLON) return faultAt(colon, SYNTAX);
  return skipSpace(bytes, colon + 1, end);
}

function skipKey(source: JsonBytes, from: number, end: number): number {
  if (from >= end || source.bytes[from] !== QUOTE) return faultAt(from, SYNTAX);
  const close = skipString(source, from + 1, end);
  return close < 0 ? close : skipColon(source.bytes, close + 1, end);
}

/** Closing bracket of each open object or array. One array is enough, because scans are never nested. */
const CLOSERS = new Uint8Array(MAX_DEPTH + 1);

/**
 * Returns the position after the value. `from` is the first byte of the value, after any white space. `depth` is the
 * number of objects and arrays around the value.
 */
export function skipValue(source: JsonBytes, from: number, end: number, depth: number): number {
  const { bytes } = source;
  let level = depth;
  let pos = from;
  for (;;) {
    const byte = pos < end ? bytes[pos] : 0;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      level += 1;
      if (level > MAX_DEPTH) return faultAt(pos, TOO_DEEP);
      // In ASCII, the code of each closing bracket is the code of its opening bracket plus two.
      const closer = byte + 2;
      CLOSERS[level] = closer;
      pos = skipSpace(bytes, pos + 1, end);
      if (pos < end && bytes[pos] !== closer) {
        if (byte !== OPEN_OBJECT) continue;
        const value = skipKey(source, pos, end);
        if (value < 0) return value;
        pos = value | 0;
        continue;
      }
    } else {
      const after = skipScalar(source, pos, end);
      if (after < 0) return after;
      pos = after | 0;
    }
    while (level > depth) {
      pos = skipSpace(bytes, pos, end);
      const after = pos < end ? bytes[pos] : 0;
      if (after === CLOSERS[level]) {
        level -= 1;
        pos += 1;
        continue;
      }
      if (after !== COMMA) return faultAt(pos, SYNTAX);
      pos = skipSpace(bytes, pos + 1, end);
      if (CLOSERS[level] !== CLOSE_OBJECT) break;
      const value = skipKey(source, pos, end);
      if (value < 0) return value;
      pos = value | 0;
      break;
    }
    if (level === depth) return pos;
  }
}
