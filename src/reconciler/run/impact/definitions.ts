// Finds reviewed tool definitions that a change replaces. Clients see the new definitions after the change.

import { RUN_CONFIG_FILE } from '#contracts/run-config.ts';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { LOCKED_LIST_NAMES, type LockedList, type ToolLock } from '#contracts/tool-lock/schema.ts';
import { SHARD_FILE } from '#contracts/tool-lock/shards.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { isObject, type Json, type JsonObject, objectsIn, parseJson } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import type { Change } from '../plan/plan.ts';

export interface DefinitionsImpact {
  /** Server or, in a comparison of two commits, its ToolLock. */
  readonly resource: ResourceId;
  readonly list: LockedList;
  /** Names of tools, prompts or templates whose reviewed definition changes. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

type Lists = Pick<HeldLock, LockedList>;

/** Compares the tool locks in the configurations of proxies. `before` are the live objects. */
export function definitionImpacts(
  changes: readonly Change[],
  before: readonly KubeObject[],
): readonly DefinitionsImpact[] {
  const existing = new Map<string, KubeObject>();
  for (const object of before) if (object.kind === 'ConfigMap') existing.set(keyOf(idOf(object)), object);
  const declared = new Map(existing);
  for (const change of changes) if (change.action !== 'delete') declared.set(change.key, change.object);
  return changes.flatMap((change) => {
    if (change.action === 'delete' || change.owner === undefined || change.resource.kind !== 'ConfigMap') return [];
    const after = lockIn(change.object, declared);
    return after === undefined ? [] : impactsOf(change.owner, lockIn(existing.get(change.key), existing), after);
  });
}

type ConfigMaps = ReadonlyMap<string, KubeObject>;

/**
 * Returns the tool lock in a configuration; undefined for an object without a tool lock. A large lock has parts in
 * further ConfigMaps.
 */
function lockIn(object: KubeObject | undefined, all: ConfigMaps): Lists | undefined {
  const text = isObject(object?.data) ? object.data[RUN_CONFIG_FILE] : undefined;
  const config = typeof text === 'string' ? parseJson(text) : undefined;
  const lock = isObject(config) ? config.tools_lock : undefined;
  if (object === undefined || !isObject(lock)) return undefined;
  const parts = objectsIn(lock.parts).map(({ config_map: name }) =>
    partIn(all.get(keyOf({ ...idOf(object), name: String(name) }))),
  );
  const digests = (list: LockedList) =>
    Object.assign(digestsIn(lock[list]), ...parts.map((part) => digestsIn(part[list])));
  return {
    tools: digests('tools'),
    prompts: digests('prompts'),
    resourceTemplates: digests('resourceTemplates'),
  };
}

function partIn(object: KubeObject | undefined): JsonObject {
  const text = isObject(object?.data) ? object.data[SHARD_FILE] : undefined;
  const part = typeof text === 'string' ? parseJson(text) : undefined;
  return isObject(part) ? part : {};
}

function digestsIn(value: Json | undefined): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, digest]) => (typeof digest === 'string' ? [[name, digest]] : [])),
  );
}

interface DeclaredLock {
  readonly id: ResourceId;
  readonly object: KubeObject;
}

/** Compares the tool locks of two commits. */
export function lockImpacts(
  before: readonly DeclaredLock[],
  after: readonly DeclaredLock[],
): readonly DefinitionsImpact[] {
  const earlier = new Map(before.map((lock) => [keyOf(lock.id), lock]));
  return after.flatMap((lock) => {
    const found = earlier.get(keyOf(lock.id));
    return impactsOf(lock.id, found && digestsOf(found), digestsOf(lock));
  });
}

/** Returns the digests of a ToolLock, which must be valid. */
function digestsOf({ object }: DeclaredLock): Lists {
  const spec: unknown = object.spec;
  return heldLock('enforce', spec as ToolLock);
}

function impactsOf(resource: ResourceId, before: Lists | undefined, after: Lists): readonly DefinitionsImpact[] {
  return LOCKED_LIST_NAMES.flatMap((list) => {
    const [was, is] = [before?.[list] ?? {}, after[list] ?? {}];
    const changed = Object.keys(is).filter((name) => Object.hasOwn(was, name) && was[name] !== is[name]);
    const added = Object.keys(is).filter((name) => !Object.hasOwn(was, name));
    const removed = Object.keys(was).filter((name) => !Object.hasOwn(is, name));
    return [changed, added, removed].every(({ length }) => length === 0)
      ? []
      : [{ resource, list, changed, added, removed }];
  });
}

export function sortImpacts(impacts: readonly DefinitionsImpact[]): readonly DefinitionsImpact[] {
  return impacts.toSorted((a, b) => (formatId(a.resource) < formatId(b.resource) ? -1 : 1));
}
