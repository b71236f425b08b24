// Finds the items in the result of a list method, and rebuilds the result with fewer or changed items. All other bytes
// stay unchanged.

import { faultReason, type JsonBytes, openSource, SYNTAX, skipSpace } from './json-bytes.ts';
import { keyLevel, readMembers, slotOf } from './json-members.ts';
import type { MessageTarget, Span } from './message.ts';
import type { ListKey } from './methods.ts';
import { jsonString, type Patch, patchBytes, patchedParts } from './patch.ts';
import { spanAt, textAt } from './scan-params.ts';

export interface ListItem {
  readonly span: Span;
  readonly name?: MessageTarget;
  readonly uri?: MessageTarget;
  /** Present for resource templates. */
  readonly uriTemplate?: MessageTarget;
  readonly description?: Span;
  readonly title?: Span;
  readonly annotations?: Span;
  readonly inputSchema?: Span;
}

export interface ListResult {
  readonly ok: true;
  readonly items: readonly ListItem[];
  /** Position of the array, including its brackets. */
  readonly array: Span;
  /** Position of the result, including its braces. */
  readonly result: Span;
  readonly cacheScope?: Span;
  readonly ttlMs?: Span;
  readonly nextCursor?: Span;
}

/** Fault of a list that two clients could read differently. Such a list must not pass if it has to be filtered. */
export interface ListFault {
  readonly ok: false;
  readonly message: string;
}

export interface KeptItem {
  readonly item: ListItem;
  /** Patches inside the item, sorted by position. */
  readonly patches?: readonly Patch[];
}

const KEYS = [
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
  'tasks',
  'roots',
  'skills',
] as const satisfies ListKey[];
const RESULT = keyLevel(0, [...KEYS, 'nextCursor', 'ttlMs', 'cacheScope', 'resultType', '_meta']);
const ITEM = keyLevel(0, ['name', 'uri', 'uriTemplate', 'description', 'title', 'annotations', 'inputSchema', '_meta']);

const CACHE_SCOPE = slotOf(RESULT, 'cacheScope');
const TTL_MS = slotOf(RESULT, 'ttlMs');
const NEXT_CURSOR = slotOf(RESULT, 'nextCursor');

const AT = {
  name: slotOf(ITEM, 'name'),
  uri: slotOf(ITEM, 'uri'),
  uriTemplate: slotOf(ITEM, 'uriTemplate'),
  description: slotOf(ITEM, 'description'),
  title: slotOf(ITEM, 'title'),
  annotations: slotOf(ITEM, 'annotations'),
  inputSchema: slotOf(ITEM, 'inputSchema'),
} as const;

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;

/** Returns the keys of the lists in the result at this span. undefined if JSON readers could find different lists. */
export function listKeysIn(body: Buffer, result: Span): readonly ListKey[] | undefined {
  const slots = new Int32Array(RESULT.to);
  if (body[result.start] !== OPEN_OBJECT) return undefined;
  const after = readMembers(openSource(body), result.start, result.end, 1, RESULT, slots);
  return after === result.end ? KEYS.filter((key) => spanAt(slots, slotOf(RESULT, key)) !== undefined) : undefined;
}

export function listItems(body: Buffer, result: Span, key: ListKey): ListResult | ListFault {
  const source = openSource(body);
  if (body[result.start] !== OPEN_OBJECT) return unreadable('the result is not an object');
  const slots = new Int32Array(RESULT.to);
  const after = readMembers(source, result.start, result.end, 1, RESULT, slots);
  if (after !== result.end) return unreadable(`the result: ${reasonOf(after)}`);
  const array = spanAt(slots, slotOf(RESULT, key));
  if (array === undefined || body[array.start] !== OPEN_ARRAY) return unreadable(`the result has no array ${key}`);
  const items = readItems(source, array);
  if (typeof items === 'string') return unreadable(items);
  return {
    ok: true,
    items,
    array,
    result,
    cacheScope: spanAt(slots, CACHE_SCOPE),
    ttlMs: spanAt(slots, TTL_MS),
    nextCursor: spanAt(slots, NEXT_CURSOR),
  };
}

function unreadable(message: string): ListFault {
  return { ok: false, message };
}

function reasonOf(fault: number): string {
  const known = fault < 0 && faultReason(fault) !== SYNTAX;
  return known
    ? 'a key occurs twice, in another letter case or with escapes, or it has too many keys or is too deep'
    : 'not valid JSON';
}

function readItems(source: JsonBytes, array: Span): ListItem[] | string {
  const { bytes } = source;
  const items: ListItem[] = [];
  const slots = new Int32Array(ITEM.to);
  let pos = skipSpace(bytes, array.start + 1, array.end);
  if (bytes[pos] === CLOSE_ARRAY) return items;
  for (;;) {
    if (bytes[pos] !== OPEN_OBJECT) return `item ${items.length} is not an object`;
    slots.fill(0);
    const after = readMembers(source, pos, array.end, 2, ITEM, slots);
    if (after < 0) return `item ${items.length}: ${reasonOf(after)}`;
    const item = readItem(source, { start: pos, end: after }, slots);
    if (item === undefined) return `item ${items.length}: its name or URI is not a string`;
    items.push(item);
    pos = skipSpace(bytes, after, array.end);
    if (bytes[pos] === CLOSE_ARRAY) return items;
    if (bytes[pos] !== COMMA) return 'not valid JSON';
    pos = skipSpace(bytes, pos + 1, array.end);
  }
}

function readItem(source: JsonBytes, span: Span, slots: Int32Array): ListItem | undefined {
  const name = targetAt(source, slots, AT.name);
  const uri = targetAt(source, slots, AT.uri);
  const uriTemplate = targetAt(source, slots, AT.uriTemplate);
  if (name === null || uri === null || uriTemplate === null) return undefined;
  return {
    span,
    name,
    uri,
    uriTemplate,
    description: spanAt(slots, AT.description),
    title: spanAt(slots, AT.title),
    annotations: spanAt(slots, AT.annotations),
    inputSchema: spanAt(slots, AT.inputSchema),
  };
}

/** Returns the text at the slot. undefined if the value is absent, null if the value is not a valid text. */
function targetAt(source: JsonBytes, slots: Int32Array, slot: number): MessageTarget | undefined | null {
  const span = spanAt(slots, slot);
  if (span === undefined) return undefined;
  const value = textAt(source, span);
  return value === undefined ? null : { value, span };
}

/**
 * Returns the whole body with only the kept items, in the given order. `private` sets `cacheScope` to private, because
 * a result that was filtered for one caller must not be cached for other callers (MCP 2026-07-28, Caching).
 */
export function rebuildList(
  body: Buffer,
  list: ListResult,
  kept: readonly KeptItem[],
  options: { readonly private: boolean },
): Buffer {
  const parts = kept.flatMap(({ item, patches = [] }, index) => {
    const { start, end } = item.span;
    const bytes = patches.length === 0 ? [body.subarray(start, end)] : patchedParts(body, start, end, patches);
    return index === 0 ? bytes : [COMMA_BYTES, ...bytes];
  });
  const inside = { start: list.array.start + 1, end: list.array.end - 1 };
  const patches: Patch[] = [{ span: inside, bytes: Buffer.concat(parts) }];
  if (options.private) patches.push(privateScope(list));
  return patchBytes(
    body,
    patches.sort((a, b) => a.span.start - b.span.start),
  );
}

const COMMA_BYTES = Buffer.from(',');

function privateScope({ cacheScope, result }: ListResult): Patch {
  if (cacheScope !== undefined) return { span: cacheScope, bytes: jsonString('private') };
  const at = result.start + 1;
  return { span: { start: at, end: at }, bytes: Buffer.from('"cacheScope":"private",') };
}
