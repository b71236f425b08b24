// Applies a JSON patch (RFC 6902).

import { isObject, type Json, type JsonObject, jsonEquals, pointerTokens } from '#std/json.ts';

interface PatchRefusal {
  readonly refused: string;
}

type PatchedValue = { readonly value: Json } | PatchRefusal;

/**
 * Returns the target after all operations, or the reason why an operation cannot be applied. Does not modify the
 * target.
 */
export function jsonPatch(target: Json, operations: readonly Json[]): PatchedValue {
  let value: Json = structuredClone(target);
  for (const operation of operations) {
    const outcome = applyOperation(value, operation);
    if ('refused' in outcome) return outcome;
    value = outcome.value;
  }
  return { value };
}

function applyOperation(target: Json, operation: Json): PatchedValue {
  if (!isObject(operation)) return patchRefusal('an operation is an object');
  const { op, path, from, value } = operation;
  if (typeof path !== 'string') return patchRefusal('an operation needs a path');
  switch (op) {
    case 'add':
      return value === undefined ? patchRefusal('add needs a value') : put(target, path, value, 'insert');
    case 'replace':
      return value === undefined ? patchRefusal('replace needs a value') : put(target, path, value, 'replace');
    case 'remove':
      return remove(target, path);
    case 'test':
      return jsonEquals(readValue(target, path) ?? null, value ?? null)
        ? { value: target }
        : patchRefusal(`testing ${path} failed`);
    case 'copy':
    case 'move':
      return typeof from === 'string' ? transfer(target, op, from, path) : patchRefusal(`${op} needs from`);
    default:
      return patchRefusal(`unknown operation ${JSON.stringify(op ?? null)}`);
  }
}

function patchRefusal(refused: string): PatchRefusal {
  return { refused };
}

function transfer(target: Json, op: 'copy' | 'move', from: string, path: string): PatchedValue {
  if (op === 'move' && path.startsWith(`${from}/`)) return patchRefusal('a value cannot be moved into itself');
  const value = readValue(target, from);
  if (value === undefined) return patchRefusal(`${from} does not exist`);
  if (op === 'copy') return put(target, path, structuredClone(value), 'insert');
  const removed = remove(target, from);
  return 'refused' in removed ? removed : put(removed.value, path, value, 'insert');
}

function readValue(target: Json, path: string): Json | undefined {
  let value: Json | undefined = target;
  for (const token of pointerTokens(path)) {
    if (Array.isArray(value)) value = value[indexIn(value, token, value.length - 1) ?? -1];
    else if (isObject(value)) value = Object.hasOwn(value, token) ? value[token] : undefined;
    else return undefined;
  }
  return value;
}

/** Parses an array index (RFC 6901 section 4). undefined if it is not an index or exceeds `last`. */
function indexIn(list: readonly Json[], token: string, last: number): number | undefined {
  if (token === '-') return last === list.length ? last : undefined;
  if (!/^(0|[1-9][0-9]*)$/.test(token)) return undefined;
  const index = Number(token);
  return index <= last ? index : undefined;
}

function parentOf(target: Json, path: string): { parent: Json[] | JsonObject; token: string } | undefined {
  const cut = path.lastIndexOf('/');
  if (cut < 0) return undefined;
  const parent = readValue(target, path.slice(0, cut));
  const [token = ''] = pointerTokens(path.slice(cut));
  return Array.isArray(parent) || isObject(parent) ? { parent, token } : undefined;
}

function put(target: Json, path: string, value: Json, mode: 'insert' | 'replace'): PatchedValue {
  if (path === '') return { value };
  const place = parentOf(target, path);
  if (place === undefined) return patchRefusal(`the parent of ${path} does not exist`);
  const { parent, token } = place;
  if (!Array.isArray(parent)) {
    if (mode === 'replace' && !Object.hasOwn(parent, token)) return patchRefusal(`${path} does not exist`);
    parent[token] = value;
    return { value: target };
  }
  const index = indexIn(parent, token, mode === 'insert' ? parent.length : parent.length - 1);
  if (index === undefined) return patchRefusal(`${path} does not exist`);
  parent.splice(index, mode === 'insert' ? 0 : 1, value);
  return { value: target };
}

function remove(target: Json, path: string): PatchedValue {
  const place = parentOf(target, path);
  if (place === undefined || readValue(target, path) === undefined) return patchRefusal(`${path} does not exist`);
  const { parent, token } = place;
  if (Array.isArray(parent)) parent.splice(Number(token), 1);
  else delete parent[token];
  return { value: target };
}
