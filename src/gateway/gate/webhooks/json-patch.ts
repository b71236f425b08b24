// Applies a JSON patch (RFC 6902) to the bytes of a message. Values keep the bytes of the client or of the patch, so
// numbers beyond 2^53 stay exact.

import { jsonEquals, pointerTokens } from '#std/json.ts';
import { afterSpace, listElements, objectMembers } from '../../wire/json-walk.ts';
import type { Span } from '../../wire/message.ts';
import { jsonString, patchBytes } from '../../wire/patch.ts';
import { readValue } from '../../wire/scan.ts';

export type Patched = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly fault: string };

const OPERATIONS_MAX = 1000;
/**
 * Maximum number of bytes that all operations read together, because each operation reads the whole message on the
 * event loop.
 */
const READ_MAX = 32 * 1024 * 1024;
const ALLOWED = '/mcp_request/params/';
const POINTER = /^(\/([^~/]|~0|~1)*)+$/;

/**
 * Applies the patch, which is JSON text. Refuses operations outside `/mcp_request/params/`, so a webhook cannot change
 * the id and the method of a request.
 */
export function applyPatch(message: Buffer, patch: Buffer, maxBytes: number): Patched {
  const operations = listElements(patch, 0);
  if (operations === undefined) return { ok: false, fault: 'the patch is not a list' };
  if (operations.length > OPERATIONS_MAX)
    return { ok: false, fault: `the patch has more than ${OPERATIONS_MAX} operations` };
  let [bytes, read] = [message, 0];
  for (const [index, { start, end }] of operations.entries()) {
    read += bytes.length;
    if (read > READ_MAX) return { ok: false, fault: 'the patch has too many operations for so large a message' };
    const next = applyOperation(bytes, patch.subarray(start, end));
    if (typeof next === 'string') return { ok: false, fault: `operation ${index} of the patch ${next}` };
    if (next.length > maxBytes) return { ok: false, fault: 'the patch makes the message too large' };
    bytes = next;
  }
  return { ok: true, bytes };
}

/** Returns the changed bytes, or the fault as a text. */
function applyOperation(bytes: Buffer, operation: Buffer): Buffer | string {
  const members = objectMembers(operation, 0);
  if (members === undefined) return 'is not an object';
  const parts = new Map(members.map(({ key, value: { start, end } }) => [key, operation.subarray(start, end)]));
  if (parts.size < members.length) return 'has a key twice';
  const value = parts.get('value');
  const op = jsonText(parts.get('op'));
  const to = tokensOf(parts.get('path'));
  if (to === undefined) return `has a path that is not below ${ALLOWED}`;
  switch (op) {
    case 'add':
      return value === undefined ? 'has no value' : putValue(bytes, to, value, 'add');
    case 'replace':
      return value === undefined ? 'has no value' : putValue(bytes, to, value, 'replace');
    case 'remove':
      return removeValue(bytes, to);
    case 'test': {
      const found = valueAt(bytes, to);
      return found !== undefined && value !== undefined && sameValue(bytes.subarray(found.start, found.end), value)
        ? bytes
        : 'tests a value that the message does not have';
    }
    case 'copy':
    case 'move':
      return transferValue(bytes, op, parts.get('from'), to);
    default:
      return `is unknown: ${String(op).slice(0, 32)}`;
  }
}

function transferValue(
  bytes: Buffer,
  op: 'copy' | 'move',
  from: Buffer | undefined,
  to: readonly string[],
): Buffer | string {
  const source = tokensOf(from);
  if (source === undefined) return `has a from that is not below ${ALLOWED}`;
  const found = valueAt(bytes, source);
  if (found === undefined) return 'names a value that the message does not have';
  const value = Buffer.from(bytes.subarray(found.start, found.end));
  // RFC 6902 section 4.4 forbids moving a value into itself.
  if (op === 'move' && source.length < to.length && source.every((token, index) => token === to[index]))
    return 'moves a value into itself';
  const without = op === 'move' ? removeValue(bytes, source) : bytes;
  return typeof without === 'string' ? without : putValue(without, to, value, 'add');
}

/** Returns the path inside the message. undefined for paths outside `params`. */
function tokensOf(json: Buffer | undefined): readonly string[] | undefined {
  const pointer = jsonText(json);
  if (pointer === undefined || !pointer.startsWith(ALLOWED) || !POINTER.test(pointer)) return undefined;
  return pointerTokens(pointer).slice(1);
}

function jsonText(json: Buffer | undefined): string | undefined {
  const value = json === undefined ? undefined : wholeValue(json);
  return typeof value === 'string' ? value : undefined;
}

function wholeValue(json: Buffer) {
  return readValue(json, { start: 0, end: json.length });
}

/** Returns whether two values are equal. Values with numbers that JavaScript could round must have the same bytes. */
function sameValue(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  return !isRounded(one) && !isRounded(other) && jsonEquals(wholeValue(one), wholeValue(other));
}

/** Maximum number of digits that JavaScript never rounds. */
const DIGITS_MAX = 15;

function isRounded(json: Buffer): boolean {
  let rounded = false;
  JSON.parse(json.toString(), (_key, value: unknown, context?: { readonly source?: string }) => {
    const digits = context?.source?.replaceAll(/[^0-9]/g, '').length ?? 0;
    if (typeof value === 'number' && (digits > DIGITS_MAX || !Number.isFinite(value))) rounded = true;
    return value;
  });
  return rounded;
}

function valueAt(bytes: Buffer, tokens: readonly string[]): Span | undefined {
  let place: Span | undefined = { start: afterSpace(bytes, 0), end: bytes.length };
  for (const token of tokens) {
    if (place === undefined) return undefined;
    place = childOf(bytes, place, token);
  }
  return place;
}

const INDEX = /^(0|[1-9][0-9]{0,8})$/;

function childOf(bytes: Buffer, place: Span, token: string): Span | undefined {
  const elements = listElements(bytes, place.start);
  if (elements !== undefined) return INDEX.test(token) ? elements[Number(token)] : undefined;
  const named = (objectMembers(bytes, place.start) ?? []).filter(({ key }) => key === token);
  // If a key occurs twice, the path is ambiguous.
  return named.length === 1 ? named[0]?.value : undefined;
}

function putValue(bytes: Buffer, tokens: readonly string[], value: Buffer, how: 'add' | 'replace'): Buffer | string {
  const parent = valueAt(bytes, tokens.slice(0, -1));
  const token = tokens.at(-1) ?? '';
  if (parent === undefined) return 'names a place that the message does not have';
  const found = childOf(bytes, parent, token);
  const elements = listElements(bytes, parent.start);
  if (found !== undefined && (how === 'replace' || elements === undefined))
    return patchBytes(bytes, [{ span: found, bytes: value }]);
  if (how === 'replace') return 'replaces a value that the message does not have';
  if (elements !== undefined) return insertElement(bytes, parent, elements, token, value);
  const members = objectMembers(bytes, parent.start);
  if (members === undefined) return 'adds to a value that is neither an object nor a list';
  if (members.some(({ key }) => key === token)) return 'names a key that the message has twice';
  const texts = members.map((member) => bytes.subarray(member.start, member.value.end));
  const added = Buffer.concat([jsonString(token), Buffer.from(':'), value]);
  return patchBytes(bytes, [{ span: parent, bytes: joinParts('{', [...texts, added], '}') }]);
}

function insertElement(
  bytes: Buffer,
  parent: Span,
  elements: readonly Span[],
  token: string,
  value: Buffer,
): Buffer | string {
  const index = token === '-' ? elements.length : INDEX.test(token) ? Number(token) : -1;
  if (index < 0 || index > elements.length) return 'names a position that the list does not have';
  const texts = elements.map(({ start, end }) => bytes.subarray(start, end));
  return patchBytes(bytes, [{ span: parent, bytes: joinParts('[', texts.toSpliced(index, 0, value), ']') }]);
}

function removeValue(bytes: Buffer, tokens: readonly string[]): Buffer | string {
  const parent = valueAt(bytes, tokens.slice(0, -1));
  const token = tokens.at(-1) ?? '';
  if (parent === undefined || childOf(bytes, parent, token) === undefined)
    return 'removes a value that the message does not have';
  const elements = listElements(bytes, parent.start);
  if (elements !== undefined) {
    const texts = elements.map(({ start, end }) => bytes.subarray(start, end));
    return patchBytes(bytes, [{ span: parent, bytes: joinParts('[', texts.toSpliced(Number(token), 1), ']') }]);
  }
  const members = (objectMembers(bytes, parent.start) ?? []).filter(({ key }) => key !== token);
  const texts = members.map((member) => bytes.subarray(member.start, member.value.end));
  return patchBytes(bytes, [{ span: parent, bytes: joinParts('{', texts, '}') }]);
}

function joinParts(open: string, texts: readonly Buffer[], close: string): Buffer {
  const comma = Buffer.from(',');
  const parts = texts.flatMap((text, index) => (index === 0 ? [text] : [comma, text]));
  return Buffer.concat([Buffer.from(open), ...parts, Buffer.from(close)]);
}
