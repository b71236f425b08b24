// Names the steps of a path: keys of maps and items of associative lists.

import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';
import type { ListType } from '../openapi.ts';
import { goEscapes } from './go-json.ts';

/** The reason why an item has no name. The server refuses the whole list. */
export interface UnnamedItem {
  readonly refused: string;
}

export function fieldElement(key: string): string {
  return `f:${key}`;
}

/** Returns the name of an item of an associative list: `k:` and its key fields, or `v:` and its value. */
export function itemElement(list: ListType, item: Json): string | UnnamedItem {
  return list.merge === 'map' ? keyedElement(list, item) : valueElement(item);
}

function keyedElement(list: ListType, item: Json): string | UnnamedItem {
  if (!isObject(item)) return { refused: 'an item of a list with keys must be an object' };
  const parts: string[] = [];
  for (const key of list.keys) {
    const value = item[key] ?? keyDefault(list, item, key);
    if (value !== undefined) parts.push(`${JSON.stringify(key)}:${jsonText(value)}`);
  }
  if (parts.length === 0) return { refused: `the item has none of its key fields (${list.keys.join(', ')})` };
  return `k:{${parts.join(',')}}`;
}

/** Returns the published default of an absent key field. An explicit null stays null. */
function keyDefault(list: ListType, item: JsonObject, key: string): Json | undefined {
  return item[key] === null ? null : list.item().map?.fields.get(key)?.default;
}

function valueElement(item: Json): string | UnnamedItem {
  if (item === null || typeof item === 'object') return { refused: 'an item of a set must be a scalar' };
  return `v:${jsonText(item)}`;
}

function jsonText(value: Json): string {
  return typeof value === 'object' ? canonicalJson(value) : JSON.stringify(value);
}

/** True if the text begins like an element of `fieldsV1`. */
export function isElement(text: string): boolean {
  return text[1] === ':' && KINDS.includes(text.charAt(0));
}

const KINDS = 'fkvi';

/**
 * Parses a server's element, whose key fields may have any order and any JSON escapes. Returns the element in our
 * canonical form.
 */
export function parseElement(text: string): string | undefined {
  if (text.startsWith('f:') || text.startsWith('i:')) return text;
  try {
    const value = JSON.parse(text.slice(2)) as Json;
    return text.startsWith('k:') && isObject(value) ? keysElement(value) : `v:${jsonText(value)}`;
  } catch {
    return undefined;
  }
}

function keysElement(keys: JsonObject): string {
  const parts = Object.keys(keys)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${jsonText(keys[key] ?? null)}`);
  return `k:{${parts.join(',')}}`;
}

/** Returns the element in the server's form. Go escapes more characters in JSON strings than JavaScript does. */
export function formatElement(element: string): string {
  return element.startsWith('k:') || element.startsWith('v:') ? goEscapes(element) : element;
}

const RANKS = ['f:', 'k:', 'v:', 'i:'];

/**
 * Compares siblings as the API server orders them: fields, keyed items, values, positions. Siblings of one type are
 * ordered by content.
 */
export function compareElements(a: string, b: string): number {
  const rank = RANKS.indexOf(a.slice(0, 2)) - RANKS.indexOf(b.slice(0, 2));
  if (rank !== 0) return rank;
  if (a.startsWith('f:')) return compareTexts(a, b);
  if (a.startsWith('i:')) return Number(a.slice(2)) - Number(b.slice(2));
  const [left, right] = [JSON.parse(a.slice(2)) as Json, JSON.parse(b.slice(2)) as Json];
  return a.startsWith('k:') && isObject(left) && isObject(right)
    ? compareKeys(left, right)
    : compareValues(left, right);
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const left = Object.entries(a);
  const right = Object.entries(b);
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareTexts(name, other[0]) || compareValues(value ?? null, other[1] ?? null);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Sorts numbers before strings before booleans before other values. */
function compareValues(a: Json, b: Json): number {
  const rank = valueRank(a) - valueRank(b);
  if (rank !== 0) return rank;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return compareTexts(typeof a === 'string' ? a : canonicalJson(a), typeof b === 'string' ? b : canonicalJson(b));
}

function valueRank(value: Json): number {
  const rank = ['number', 'string', 'boolean'].indexOf(typeof value);
  return rank < 0 ? 3 : rank;
}

/** Compares by code units, which suffices because keys and managers are ASCII. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
