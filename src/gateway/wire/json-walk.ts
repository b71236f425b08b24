// Finds the members of an object and the elements of a list in JSON bytes, without parsing the values. A message can
// thereby be changed in one place while all other bytes stay unchanged.

import { type JsonBytes, openSource, skipColon, skipSpace, skipString, skipValue } from './json-bytes.ts';
import { decodeString } from './json-members.ts';
import type { Span } from './message.ts';

export interface MemberSpan {
  readonly key: string;
  /** Position of the opening quote of the key. */
  readonly start: number;
  readonly value: Span;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Returns the members, in order, of the object that begins at `at`. undefined if no complete object begins at `at`. */
export function objectMembers(bytes: Buffer, at: number): readonly MemberSpan[] | undefined {
  const source = openSource(bytes);
  const members: MemberSpan[] = [];
  const end = walk(bytes, at, OPEN_OBJECT, CLOSE_OBJECT, (start) => {
    const member = readMember(source, start);
    if (member === undefined) return -1;
    members.push(member);
    return member.value.end;
  });
  return end < 0 ? undefined : members;
}

/** Returns the elements of the list that begins at `at`. undefined if no complete list begins at `at`. */
export function listElements(bytes: Buffer, at: number): readonly Span[] | undefined {
  const source = openSource(bytes);
  const elements: Span[] = [];
  const end = walk(bytes, at, OPEN_LIST, CLOSE_LIST, (start) => {
    const valueEnd = skipValue(source, start, bytes.length, 0);
    if (valueEnd >= 0) elements.push({ start, end: valueEnd });
    return valueEnd;
  });
  return end < 0 ? undefined : elements;
}

/** Returns the position of the first byte from `at` on that is not white space. */
export function afterSpace(bytes: Buffer, at: number): number {
  return skipSpace(bytes, at, bytes.length);
}

function readMember(source: JsonBytes, start: number): MemberSpan | undefined {
  const { bytes } = source;
  if (bytes[start] !== QUOTE) return undefined;
  const close = skipString(source, start + 1, bytes.length);
  if (close < 0) return undefined;
  const valueStart = skipColon(bytes, close + 1, bytes.length);
  if (valueStart < 0) return undefined;
  const valueEnd = skipValue(source, valueStart, bytes.length, 0);
  const key = valueEnd < 0 ? undefined : decodeString(source, start + 1, close);
  return key === undefined ? undefined : { key, start, value: { start: valueStart, end: valueEnd } };
}

/**
 * Calls `item` for each item between the brackets. `item` returns the end of the item, or a negative number for a
 * fault.
 */
function walk(bytes: Buffer, at: number, open: number, close: number, item: (start: number) => number): number {
  if (bytes[at] !== open) return -1;
  let place = afterSpace(bytes, at + 1);
  if (bytes[place] === close) return place + 1;
  for (;;) {
    const end = item(place);
    if (end < 0) return -1;
    place = afterSpace(bytes, end);
    if (bytes[place] === close) return place + 1;
    if (bytes[place] !== COMMA) return -1;
    place = afterSpace(bytes, place + 1);
  }
}
