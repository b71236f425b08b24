// Finds the positions of members and of the first mistake in a JSON text (RFC 8259). JSON.parse does not return
// positions.

import { pointerTokens } from './json.ts';

/** Position of a member. Offsets are UTF-16 indices into the text. */
export interface JsonSpot {
  /** Start of the member's name, or of the value in an array. */
  readonly offset: number;
  readonly valueStart: number;
}

/** A member of an object, or an item of an array. */
export interface JsonMember extends JsonSpot {
  /** Name of the member, or index of the item as text. */
  readonly key: string;
  readonly valueEnd: number;
}

export interface JsonFault {
  readonly offset: number;
  /** The mistake, such as `expected ":"`. */
  readonly message: string;
}

/**
 * Returns a function that converts an offset to line and column. Both count from 1. A column is one UTF-16 unit, as in
 * editors.
 */
export function linePlaces(text: string): (offset: number) => { line: number; column: number } {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/**
 * Returns the members of the object or array that begins at `start`, in the order of the text. Includes all members
 * with a repeated name, of which JSON.parse keeps only the last. Returns [] for other values. The text must be valid
 * JSON.
 */
export function jsonMembers(text: string, start = skipBlank(text, 0)): JsonMember[] {
  const open = text[start];
  if (open !== '{' && open !== '[') return [];
  const members: JsonMember[] = [];
  for (let at = skipBlank(text, start + 1); text[at] !== '}' && text[at] !== ']' && at < text.length; ) {
    const offset = at;
    let key = String(members.length);
    if (open === '{') {
      const end = stringEnd(text, at);
      key = JSON.parse(text.slice(at, end));
      at = skipBlank(text, skipBlank(text, end) + 1);
    }
    const valueEnd = skipValue(text, at);
    members.push({ key, offset, valueStart: at, valueEnd });
    at = skipBlank(text, valueEnd);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return members;
}

/**
 * Returns the position of the value at the pointer. If a member is missing, returns the position of its nearest
 * existing parent. Of several members with the same name, uses the last, as JSON.parse does. The text must be valid
 * JSON.
 */
export function jsonFind(text: string, pointer: string, start = skipBlank(text, 0)): JsonSpot {
  let spot = { offset: start, valueStart: start };
  for (const token of pointerTokens(pointer)) {
    const member = jsonMembers(text, spot.valueStart).findLast(({ key }) => key === token);
    if (member === undefined) return spot;
    spot = { offset: member.offset, valueStart: member.valueStart };
  }
  return spot;
}

/** Returns the first mistake of a text. Returns undefined if the text is valid JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  const end = checkValue(text, skipBlank(text, 0), 0);
  if (typeof end !== 'number') return end;
  const rest = skipBlank(text, end);
  return rest < text.length ? { offset: rest, message: 'expected the end of the text' } : undefined;
}

const MAX_DEPTH = 500;

/** Returns the offset after the value that begins at `at`, or the mistake in the value. */
function checkValue(text: string, at: number, depth: number): number | JsonFault {
  if (depth > MAX_DEPTH) return { offset: at, message: `nested deeper than ${MAX_DEPTH} levels` };
  switch (text[at]) {
    case '{':
      return checkList(text, at, '}', (start) => checkMember(text, start, depth));
    case '[':
      return checkList(text, at, ']', (start) => checkValue(text, start, depth + 1));
    case '"':
      return checkString(text, at);
    case undefined:
      return { offset: text.length, message: 'the text ends early' };
    default:
      return checkWord(text, at);
  }
}

function checkMember(text: string, at: number, depth: number): number | JsonFault {
  if (text[at] !== '"') return { offset: at, message: 'expected a member name in double quotes' };
  const end = checkString(text, at);
  if (typeof end !== 'number') return end;
  const colon = skipBlank(text, end);
  if (text[colon] !== ':') return { offset: colon, message: 'expected ":"' };
  return checkValue(text, skipBlank(text, colon + 1), depth + 1);
}

function checkList(
  text: string,
  start: number,
  close: '}' | ']',
  checkItem: (at: number) => number | JsonFault,
): number | JsonFault {
  let at = skipBlank(text, start + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    const end = checkItem(at);
    if (typeof end !== 'number') return end;
    at = skipBlank(text, end);
    if (text[at] === close) return at + 1;
    if (text[at] === undefined) return { offset: text.length, message: 'the text ends early' };
    if (text[at] !== ',') return { offset: at, message: `expected "," or "${close}"` };
    at = skipBlank(text, at + 1);
  }
}

const ESCAPES = '"\\/bfnrt';

function checkString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '"') return at + 1;
    if (char < ' ') return { offset: at, message: 'a control character in a string must be escaped' };
    if (char !== '\\') continue;
    at += 1;
    const escaped = text[at] ?? '';
    if (escaped === 'u' && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) at += 4;
    else if (escaped === '' || !ESCAPES.includes(escaped)) return { offset: at - 1, message: 'no such escape' };
  }
  return { offset: text.length, message: 'the text ends inside a string' };
}

/** Checks a number, true, false or null. Reads all letters, digits and signs, because these values have no end mark. */
function checkWord(text: string, at: number): number | JsonFault {
  const end = wordEnd(text, at);
  const word = text.slice(at, end);
  const known = word === 'true' || word === 'false' || word === 'null';
  if (known || /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(word)) return end;
  return { offset: at, message: 'expected a value' };
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}

/** Returns the offset after the closing quote of a string. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function wordEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && !' \n\r\t,:[]{}"'.includes(text[at] ?? '')) at += 1;
  return at;
}

/**
 * Returns the offset after a valid value. Counts brackets instead of recursing: a valid text may be nested deeper than
 * the stack.
 */
function skipValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at);
    else if (char === '{' || char === '[') {
      depth += 1;
      at += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      at += 1;
    } else if (depth === 0) at = wordEnd(text, at);
    else at += 1;
    if (depth === 0) return at;
  }
  return text.length;
}
