// Checks one JSON-RPC message in pieces, without storing them, for keys of its result. Used for messages that are too
// large for memory.

import { MAX_DEPTH } from '../json-bytes.ts';
import { foldKey } from '../json-members.ts';

export interface TextWatch {
  /**
   * Reads the next piece. Returns false if the message must not pass: it contains a watched key, or bytes or brackets
   * that are not valid JSON (RFC 8259).
   */
  push(bytes: Buffer): boolean;
}

/** Watches the keys of the member `result`, in any letter case of `result`. */
export function watchResult(isWatched: (key: string) => boolean): TextWatch {
  const open = new Uint8Array(MAX_DEPTH);
  const key = Buffer.alloc(LONGEST_KEY);
  let keyLength = 0;
  let depth = 0;
  let begun = false;
  let inString = false;
  let escaped = false;
  /** True if a string at this position is a key. */
  let keyComes = false;
  let inKey = false;
  let inResult = false;

  function enter(byte: number): boolean {
    if (depth === MAX_DEPTH || (depth === 0 && (begun || byte !== OPEN_OBJECT))) return false;
    begun = true;
    open[depth] = byte;
    depth += 1;
    keyComes = byte === OPEN_OBJECT;
    return true;
  }

  function leave(byte: number): boolean {
    depth -= 1;
    keyComes = false;
    // In ASCII, the code of each closing bracket is the code of its opening bracket plus two.
    return depth >= 0 && open[depth] === byte - 2;
  }

  function outside(byte: number): boolean {
    if (byte === QUOTE) {
      inString = true;
      inKey = keyComes && depth <= WATCHED_DEPTH;
      keyComes = false;
      keyLength = 0;
      return depth > 0;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return enter(byte);
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) return leave(byte);
    if (byte === COMMA) keyComes = depth > 0 && open[depth - 1] === OPEN_OBJECT;
    return ALLOWED[byte] === SPACE || (depth > 0 && ALLOWED[byte] === BARE);
  }

  function inside(byte: number): boolean {
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) {
      inString = false;
      return !inKey || closeKey();
    }
    if (inKey) {
      if (keyLength < LONGEST_KEY) key[keyLength] = byte;
      keyLength += 1;
    }
    return byte >= FIRST_PRINTABLE;
  }

  function closeKey(): boolean {
    if (keyLength > LONGEST_KEY) {
      if (depth === 1) inResult = false;
      return true;
    }
    const text = decodeKey(key, keyLength);
    if (text === undefined) return false;
    if (depth === 1) inResult = foldKey(text) === 'result';
    return depth === 1 || !inResult || !isWatched(text);
  }

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at] ?? 0;
        if (!(inString ? inside(byte) : outside(byte))) return false;
      }
      return true;
    },
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const FIRST_PRINTABLE = 0x20;
const FIRST_BEYOND_ASCII = 0x80;

const SPACE = 1;
/** Marks bytes of numbers and literals, and bytes between values. */
const BARE = 2;
const ALLOWED = new Uint8Array(256);
for (const byte of Buffer.from(',:+-.0123456789Eaeflnrstu')) ALLOWED[byte] = BARE;
for (const byte of Buffer.from(' \t\r\n')) ALLOWED[byte] = SPACE;

/** Depth of the result's members, which are inside the message and inside the result. */
const WATCHED_DEPTH = 2;
/** Maximum length of a watched key: 20 characters that are all written as escapes. */
const LONGEST_KEY = 120;

/** Decodes a key. Returns undefined if the bytes are not the content of a JSON string. */
function decodeKey(bytes: Buffer, length: number): string | undefined {
  if (isUnescapedAscii(bytes, length)) return bytes.toString('latin1', 0, length);
  try {
    return String(JSON.parse(`"${bytes.toString('utf8', 0, length)}"`));
  } catch {
    return undefined;
  }
}

function isUnescapedAscii(bytes: Buffer, length: number): boolean {
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte >= FIRST_BEYOND_ASCII) return false;
  }
  return true;
}
