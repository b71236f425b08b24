// Reads a JSON text in pieces, keeps none of them, and finds a key near its root: for texts that are too large to be held.

import { MAX_DEPTH } from '../json-bytes.ts';

export interface TextWatch {
  /** False: a watched key has come, or the text is not JSON (RFC 8259). What was pushed must not pass then. */
  push(bytes: Buffer): boolean;
}

/** `isWatched` gets each text directly in the root or in a member of the root, keys and values alike. */
export function watchText(isWatched: (text: string) => boolean): TextWatch {
  const open = new Uint8Array(MAX_DEPTH);
  let depth = 0;
  let begun = false;
  let inString = false;
  let escaped = false;
  let token: number[] | undefined;

  function enter(byte: number): boolean {
    if (depth === MAX_DEPTH || (depth === 0 && (begun || byte !== OPEN_OBJECT))) return false;
    begun = true;
    open[depth] = byte;
    depth += 1;
    return true;
  }

  function leave(byte: number): boolean {
    depth -= 1;
    // In ASCII a closing bracket or brace is two after its opening one.
    return depth >= 0 && open[depth] === byte - 2;
  }

  function outside(byte: number): boolean {
    if (byte === QUOTE) {
      inString = true;
      token = depth <= WATCHED_DEPTH ? [] : undefined;
      return depth > 0;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return enter(byte);
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) return leave(byte);
    return SPACE.has(byte) || (depth > 0 && BARE.has(byte));
  }

  function inside(byte: number): boolean {
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) return closeString();
    if (token !== undefined && token.push(byte) > LONGEST_KEY) token = undefined;
    return byte >= FIRST_PRINTABLE;
  }

  function closeString(): boolean {
    inString = false;
    if (token === undefined) return true;
    const text = decodeText(token);
    return text !== undefined && !isWatched(text);
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
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const FIRST_PRINTABLE = 0x20;
const SPACE: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));
/** Numbers, literals and what stands between values. */
const BARE: ReadonlySet<number> = new Set(Buffer.from(',:+-.0123456789Eaeflnrstu'));

/** The root and its members. */
const WATCHED_DEPTH = 2;
/** Bytes: 20 characters, each written as an escape. */
const LONGEST_KEY = 120;

/** Undefined if it is not a text of JSON. */
function decodeText(bytes: readonly number[]): string | undefined {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString()}"`));
  } catch {
    return undefined;
  }
}
