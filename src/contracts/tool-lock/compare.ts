// Compares the current definitions of a server with its ToolLock.

import { canonicalJson, type JsonObject } from '#std/json.ts';
import { definitionName, LOCKED_LIST_NAMES, type LockedList, type ToolLock } from './schema.ts';

/** Current definitions by list. A list that the server does not offer is empty. */
export type Offered = Readonly<Record<LockedList, readonly JsonObject[]>>;

export interface Difference {
  readonly list: LockedList;
  readonly name: string;
  /** Reviewed definition. Not set if the lock does not contain the definition. */
  readonly before?: JsonObject;
  /** Current definition. Not set if the server does not offer the definition. */
  readonly after?: JsonObject;
}

/**
 * Returns the differences, sorted by list and name. If no lock exists, every definition is new. Lists that the lock
 * does not contain are not compared.
 */
export function compareWithLock(lock: ToolLock | undefined, offered: Offered): readonly Difference[] {
  return LOCKED_LIST_NAMES.flatMap((list) => {
    const locked = lock === undefined ? [] : lock[list];
    return locked === undefined ? [] : compareLists(list, locked, offered[list]);
  });
}

function compareLists(
  list: LockedList,
  locked: readonly JsonObject[],
  offered: readonly JsonObject[],
): readonly Difference[] {
  const [before, after] = [byName(list, locked), byName(list, offered)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): readonly Difference[] => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was !== undefined && is !== undefined && canonicalJson(was) === canonicalJson(is)) return [];
    return [{ list, name, ...(was && { before: was }), ...(is && { after: is }) }];
  });
}

function byName(list: LockedList, definitions: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  return new Map(definitions.map((definition) => [definitionName(list, definition) ?? '', definition]));
}
