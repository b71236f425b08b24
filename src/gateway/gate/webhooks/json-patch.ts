// Applies a JSON patch (RFC 6902) to the bytes of a message: values that it does not name stay the client's own bytes, so that
// numbers beyond 2^53 arrive as they were sent.

import { isObject, type Json, jsonEquals, pointerTokens } from '#std/json.ts';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import type { Span } from '../../wire/message.ts';
import { patchBytes } from '../../wire/patch.ts';
import { readValue } from '../../wire/scan.ts';

export type Patched = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly fault: string };

const OPERATIONS_MAX = 1000;
const ALLOWED = '/mcp_request/params/';
const POINTER = /^(\/([^~/]|~0|~1)*)+$/;

/** `operations` name places below `/mcp_request/params/`: id and method of a request are not for a webhook to change. */
export function applyPatch(message: Buffer, operations: Json, maxBytes: number): Patched {
  if (!Array.isArray(operations)) return { ok: false, fault: 'the patch is not a list' };
  if (operations.length > OPERATIONS_MAX)
    return { ok: false, fault: `the patch has more than ${OPERATIONS_MAX} operations` };
  let bytes = message;
  for (const [index, operation] of operations.entries()) {
    const next = applyOperation(bytes, operation);
    if (typeof next === 'string') return { ok: false, fault: `operation ${index} of the patch ${next}` };
    if (next.length > maxBytes) return { ok: false, fault: 'the patch makes the message too large' };
    bytes = next;
  }
  return { ok: true, bytes };
}

/** Gives what is wrong with the operation as a text. */
function applyOperation(bytes: Buffer, operation: Json): Buffer | string {
  if (!isObject(operation)) return 'is not an object';
  const { op, path, from, value } = operation;
  const to = tokensOf(path);
  if (to === undefined) return `has a path that is not below ${ALLOWED}`;
  switch (op) {
    case 'add':
      return value === undefined ? 'has no value' : putValue(bytes, to, jsonBytes(value), 'add');
    case 'replace':
      return value === undefined ? 'has no value' : putValue(bytes, to, jsonBytes(value), 'replace');
    case 'remove':
      return removeValue(bytes, to);
    case 'test': {
      const found = valueAt(bytes, to);
      const same = found !== undefined && value !== undefined && jsonEquals(readValue(bytes, found), value);
      return same ? bytes : 'tests a value that the message does not have';
    }
    case 'copy':
    case 'move':
      return transferValue(bytes, op, from, to);
    default:
      return `is unknown: ${String(op).slice(0, 32)}`;
  }
}

function transferValue(
  bytes: Buffer,
  op: 'copy' | 'move',
  from: Json | undefined,
  to: readonly string[],
): Buffer | string {
  const source = tokensOf(from);
  if (source === undefined) return `has a from that is not below ${ALLOWED}`;
  const found = valueAt(bytes, source);
  if (found === undefined) return 'names a value that the message does not have';
  const value = Buffer.from(bytes.subarray(found.start, found.end));
  // A value cannot move into itself (RFC 6902 section 4.4).
  if (op === 'move' && source.length < to.length && source.every((token, index) => token === to[index]))
    return 'moves a value into itself';
  const without = op === 'move' ? removeValue(bytes, source) : bytes;
  return typeof without === 'string' ? without : putValue(without, to, value, 'add');
}

/** Below the message; undefined for other places. */
function tokensOf(pointer: Json | undefined): readonly string[] | undefined {
  if (typeof pointer !== 'string' || !pointer.startsWith(ALLOWED) || !POINTER.test(pointer)) return undefined;
  return pointerTokens(pointer).slice(1);
}

function jsonBytes(value: Json): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function valueAt(bytes: Buffer, tokens: readonly string[]): Span | undefined {
  let place: Span | undefined = { start: 0, end: bytes.length };
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
  // With a key twice, nobody knows which of them is meant.
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
  const added = Buffer.concat([jsonBytes(token), Buffer.from(':'), value]);
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
