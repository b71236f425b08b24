// Repairs list items that would make clients refuse the lists of all members. Removes null members, and an
// `outputSchema` that clients cannot compile.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { applyPatches, changeMembers } from '../../backends/bridge/edit.ts';
import { objectOf } from '../../backends/bridge/messages.ts';
import { listElements, objectMembers } from '../../wire/json-walk.ts';
import { type ListItem, listItems } from '../../wire/lists.ts';
import type { Patch } from '../../wire/patch.ts';
import { objectSchemaFault } from './item-notices.ts';
import type { ListName } from './list-names.ts';
import { findSchemaFault } from './schema-faults.ts';

export interface Mended {
  /** Page that contains the item. Spans of `item` are positions in this page. */
  readonly page: Buffer;
  readonly item: ListItem;
  /** Why a part was left out. Set if the author of the server has to correct it. */
  readonly why?: string;
}

/** Members in which some server libraries write absent values as null. */
const NESTED: Readonly<Partial<Record<ListName, readonly string[]>>> = {
  tools: ['annotations', 'execution', 'icons', 'inputSchema', 'outputSchema'],
  prompts: ['arguments', 'icons'],
  resources: ['annotations', 'icons'],
  resourceTemplates: ['annotations', 'icons'],
};

/** Members of schemas in which null is a valid value. */
const MAY_BE_NULL: ReadonlySet<string> = new Set(['const', 'default']);

/** Returns the item itself if it needs no repair. Returns undefined if the repaired item cannot be read. */
export function mendItem(list: ListName, page: Buffer, item: ListItem): Mended | undefined {
  const bytes = page.subarray(item.span.start, item.span.end);
  const hasNull = bytes.includes('null');
  if (!hasNull && !(list === 'tools' && bytes.includes('"outputSchema"'))) return { page, item };
  const value = objectOf(page, item.span);
  const why = list === 'tools' ? outputFault(value.outputSchema) : undefined;
  const dropped = new Set(nullKeys(value));
  if (why !== undefined) dropped.add('outputSchema');
  const patches = [
    ...(dropped.size === 0 ? [] : (changeMembers(bytes, 0, (key) => dropped.has(key)) ?? [])),
    ...(hasNull
      ? nestedPatches(
          bytes,
          value,
          (NESTED[list] ?? []).filter((key) => !dropped.has(key)),
        )
      : []),
  ];
  if (patches.length === 0 && dropped.size === 0) return { page, item };
  const mended = readItem(list, applyPatches(bytes, patches));
  return mended === undefined ? undefined : { ...mended, why };
}

/** Returns the fault of a schema of type `object`. assemble.ts removes other schemas for clients that refuse them. */
function outputFault(schema: Json | undefined): string | undefined {
  if (!isObject(schema) || schema.type !== 'object') return undefined;
  const mended = Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => value !== null || MAY_BE_NULL.has(key)),
  );
  const nested = objectSchemaFault('outputSchema', mended) ?? findSchemaFault(mended);
  return nested === undefined ? undefined : `outputSchema is left out, and the tool stays: ${nested}`;
}

function nullKeys(value: JsonObject): readonly string[] {
  return Object.keys(value).filter((key) => value[key] === null && !MAY_BE_NULL.has(key));
}

function nestedPatches(bytes: Buffer, item: JsonObject, keys: readonly string[]): readonly Patch[] {
  const places = keys.flatMap((key) => {
    const value = item[key];
    return isObject(value) || Array.isArray(value) ? [{ key, value }] : [];
  });
  const withNulls = places.filter(({ value }) => [value, ...(Array.isArray(value) ? value : [])].some(hasNulls));
  if (withNulls.length === 0) return [];
  const members = new Map(objectMembers(bytes, 0)?.map(({ key, value }) => [key, value.start]));
  return withNulls.flatMap(({ key, value }) => {
    const at = members.get(key);
    if (at === undefined) return [];
    if (!Array.isArray(value)) return withoutNulls(bytes, at, value);
    const elements = listElements(bytes, at) ?? [];
    return elements.flatMap(({ start }, index) => withoutNulls(bytes, start, value[index]));
  });
}

function hasNulls(value: Json | undefined): boolean {
  return isObject(value) && nullKeys(value).length > 0;
}

function withoutNulls(bytes: Buffer, at: number, value: Json | undefined): readonly Patch[] {
  if (!isObject(value)) return [];
  const dropped = new Set(nullKeys(value));
  return dropped.size === 0 ? [] : (changeMembers(bytes, at, (key) => dropped.has(key)) ?? []);
}

/** Reads the repaired item as a list with one item. */
function readItem(list: ListName, bytes: Buffer): Pick<Mended, 'page' | 'item'> | undefined {
  const page = Buffer.concat([Buffer.from(`{"${list}":[`), bytes, Buffer.from(']}')]);
  const read = listItems(page, { start: 0, end: page.length }, list);
  const [item] = read.ok ? read.items : [];
  return item === undefined ? undefined : { page, item };
}
