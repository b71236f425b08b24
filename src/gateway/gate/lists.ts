// Filters the result of a list for one caller. The configuration filters and renames tools, and policies decide on each
// item as on a call without arguments. Unchanged items keep their bytes. A list that cannot be parsed is refused.

import { isObject, type JsonObject } from '#std/json.ts';
import { type KeptItem, type ListItem, type ListResult, listItems, rebuildList } from '../wire/lists.ts';
import type { Span } from '../wire/message.ts';
import type { FilteredKey } from '../wire/methods.ts';
import { jsonString, type Patch, patchedParts } from '../wire/patch.ts';
import { readValue } from '../wire/scan.ts';
import { hintsFrom, type KnownTools } from './known-tools.ts';
import type { Policies } from './policy/decide.ts';
import type { PolicyAction, ToolHints } from './policy/request.ts';
import type { Override, ToolRules } from './tools.ts';
import type { LockKeeper, LockReading } from './tools-lock/keeper.ts';

export interface ListView {
  /** Claims of the caller, as in PolicyRequest. */
  readonly claims: JsonObject;
  readonly rules?: ToolRules;
  readonly policies?: Policies;
  /** If policies exist, receives the hints of every tool that clients may see, before policies decide on the tool. */
  readonly known?: KnownTools;
  /** Compares the server's definitions with the reviewed definitions. */
  readonly lock?: LockKeeper;
  /** Set if the gateway reads the list to compare it with the tools lock. */
  readonly reading?: LockReading;
  /** Called with the result of each comparison between a definition and the reviewed definition. */
  readonly compared?: (key: FilteredKey, name: string, agrees: boolean) => void;
}

export type FilteredList =
  /** `lastPage` is true if the server has no further page. */
  | { readonly ok: true; readonly body: Buffer; readonly lastPage: boolean }
  /** `detail` is for the operator. The client gets an error with the code `list-unreadable`. */
  | { readonly ok: false; readonly detail: string };

const ACTIONS: Readonly<Record<FilteredKey, PolicyAction>> = {
  tools: 'call_tool',
  prompts: 'get_prompt',
  resources: 'read_resource',
  resourceTemplates: 'read_resource',
  skills: 'read_resource',
};

/**
 * Filters a list. `result` is the position of the result in the message `body`. Returns the same buffer if nothing
 * changes.
 */
export function filterList(body: Buffer, result: Span, key: FilteredKey, view: ListView): FilteredList {
  const list = listItems(body, result, key);
  if (!list.ok) return { ok: false, detail: list.message };
  const kept = list.items.flatMap((item) => keepItem(body, item, key, view) ?? []);
  const unchanged = kept.length === list.items.length && kept.every(({ patches }) => patches === undefined);
  // A result for one caller must not be cached for other callers (MCP 2026-07-28, Caching).
  const isPrivate = view.policies !== undefined && isCached(list);
  const same = unchanged && !isPrivate;
  const filtered = same ? body : rebuildList(body, list, kept, { private: isPrivate });
  return { ok: true, body: filtered, lastPage: list.nextCursor === undefined };
}

function isCached({ cacheScope, ttlMs }: ListResult): boolean {
  return cacheScope !== undefined || ttlMs !== undefined;
}

/** Returns the item for the client. undefined if the item must be hidden from the caller. */
function keepItem(body: Buffer, item: ListItem, key: FilteredKey, view: ListView): KeptItem | undefined {
  const { value: name } =
    (key === 'tools' || key === 'prompts' ? item.name : key === 'resourceTemplates' ? item.uriTemplate : item.uri) ??
    {};
  // A client cannot call an item without a readable name.
  if (name === undefined || !isReviewed(body, item, { key, name }, view)) return undefined;
  if (key === 'tools') return keepTool(body, item, name, view);
  return isAllowed(view, ACTIONS[key], name) ? { item } : undefined;
}

/**
 * Returns whether the tools lock permits the item. Must run before overrides change the definition, and also for items
 * that the caller may not see.
 */
function isReviewed(
  body: Buffer,
  { span }: ListItem,
  { key, name }: { readonly key: FilteredKey; readonly name: string },
  { lock, reading, compared }: ListView,
): boolean {
  if (lock === undefined) return true;
  const decision = lock.decide(key, name, body.subarray(span.start, span.end), reading);
  compared?.(key, name, decision === 'agrees');
  return decision !== 'held-back';
}

function isAllowed({ policies, claims }: ListView, action: PolicyAction, name: string, hints?: ToolHints): boolean {
  return policies === undefined || policies.decide({ action, name, claims, hints }).allowed;
}

function keepTool(body: Buffer, item: ListItem, own: string, view: ListView): KeptItem | undefined {
  const { rules, known, policies } = view;
  const name = rules === undefined ? own : rules.clientName(own);
  if (name === undefined) return undefined;
  const override = rules?.overrideOf(own);
  const read = policies !== undefined || override?.annotations !== undefined;
  const annotations = read ? annotationsOf(body, item, override) : undefined;
  // Later policies may read hints even if the current policies do not.
  const hints = policies === undefined ? undefined : hintsFrom(annotations);
  if (hints !== undefined) known?.learn(name, hints);
  if (!isAllowed(view, 'call_tool', name, hints)) return undefined;
  return override === undefined ? { item } : { item, patches: overridePatches(item, name, override, annotations) };
}

/**
 * Returns the annotations that clients get. Configured values override the server's values, even false and empty
 * values.
 */
function annotationsOf(body: Buffer, { annotations }: ListItem, override: Override | undefined): JsonObject {
  const own = annotations === undefined ? undefined : readValue(body, annotations);
  return { ...(isObject(own) ? own : {}), ...override?.annotations };
}

/** Returns the definition of one tool that clients get. Used by code that builds its own list. */
export function patchTool(body: Buffer, item: ListItem, name: string, override: Override): Buffer {
  const annotations = override.annotations === undefined ? undefined : annotationsOf(body, item, override);
  const { start, end } = item.span;
  return Buffer.concat(patchedParts(body, start, end, overridePatches(item, name, override, annotations) ?? []));
}

function overridePatches(
  item: ListItem,
  name: string,
  override: Override,
  annotations: JsonObject | undefined,
): readonly Patch[] | undefined {
  const patches: Patch[] = [];
  if (item.name !== undefined && override.name !== undefined) {
    patches.push({ span: item.name.span, bytes: jsonString(name) });
  }
  if (override.description !== undefined) {
    patches.push(memberPatch(item, 'description', item.description, override.description));
  }
  if (override.annotations !== undefined) {
    patches.push(memberPatch(item, 'annotations', item.annotations, annotations));
  }
  return patches.length === 0 ? undefined : patches.sort((a, b) => a.span.start - b.span.start);
}

/** Returns a patch that replaces the value of a member, or adds the member after the name. */
function memberPatch({ name, span }: ListItem, key: string, at: Span | undefined, value: unknown): Patch {
  const json = JSON.stringify(value);
  if (at !== undefined) return { span: at, bytes: Buffer.from(json) };
  const end = name?.span.end ?? span.end;
  return { span: { start: end, end }, bytes: Buffer.from(`,${JSON.stringify(key)}:${json}`) };
}
