// Changes an object and its managedFields as an API server does on writes.

import { isObject, type JsonObject, jsonEquals } from '#std/json.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../object.ts';
import { changesBetween } from '../changes.ts';
import { differenceBelow, EMPTY_SET, type FieldSet, union } from '../fieldset.ts';
import { fieldsOf, withoutIdentity } from '../owned.ts';
import { serverPath } from '../place.ts';
import { managerName, resetSet, type WriteContext } from './context.ts';
import { appliedByClient, KUBECTL, withLastApplied } from './last-applied.ts';
import { formatManagers, keyOfManager, type Manager, type Managers, parseManagers } from './managers.ts';
import { mergeValues } from './merge.ts';
import { prune } from './prune.ts';
import { type Conflict, conflictsWith, takeAway, withoutReset } from './takeover.ts';
import { reconcileManagers, updateManagers } from './update.ts';
import { zeroObject } from './zero.ts';

export type { Conflict } from './takeover.ts';

export interface ApplyRequest extends WriteContext {
  /** The stored object. Absent if the object does not exist. */
  readonly live?: KubeObject;
  readonly applied: KubeObject;
  readonly force: boolean;
}

/**
 * `object`: the merged object with new managedFields, before defaulting, pruning and validation. The caller must call
 * `keepTimes` after these three steps. A map or list that the apply emptied is null in `object`. Defaulting drops this
 * null unless the schema allows null there. `conflicts`: sorted by manager, then by path as the API server sorts paths.
 * `invalid`: texts with a place and a reason. The reason is a value that does not fit its type, managedFields in the
 * applied object, or unreadable managedFields in the live object.
 */
export type ApplyResult =
  | { readonly object: KubeObject }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly invalid: readonly string[] };

export interface UpdateRequest extends WriteContext {
  /** The stored object. Absent if the object does not exist. */
  readonly before?: KubeObject;
  /** The object as it will be stored, with defaults. Its `metadata.managedFields` are as the client sent them. */
  readonly after: KubeObject;
}

/**
 * Performs a server-side apply (Kubernetes documentation, "Server-Side Apply"). Assumes that all apiVersions have equal
 * paths, because objects are not converted here.
 */
export function serverSideApply(request: ApplyRequest): ApplyResult {
  const result = applyOnce(request);
  if (request.manager !== KUBECTL) return result;
  const settled = 'conflicts' in result ? withoutOwnConflicts(request, result.conflicts) : result;
  return 'object' in settled ? { object: withLastApplied(settled.object, request.applied) } : settled;
}

/** Removes conflicts about fields that kubectl itself applied before on the client side. */
function withoutOwnConflicts(request: ApplyRequest, conflicts: readonly Conflict[]): ApplyResult {
  const { live, type, apiVersion } = request;
  const own = live === undefined ? new Set<string>() : appliedByClient(live, type, apiVersion);
  const left = conflicts.filter(({ path }) => !own.has(path));
  return left.length > 0 ? { conflicts: left } : applyOnce({ ...request, force: true });
}

function applyOnce(request: ApplyRequest): ApplyResult {
  const { applied, type, force } = request;
  if (applied.metadata.managedFields !== undefined)
    return { invalid: ['.metadata.managedFields: must not be applied'] };
  const stored = parseManagers(request.live?.metadata.managedFields ?? []);
  if (stored === undefined)
    return { invalid: ['.metadata.managedFields: the object in the cluster has entries of an unknown form'] };
  const { set, misfits } = fieldsOf(applied, type);
  if (misfits.length > 0)
    return { invalid: misfits.map(({ elements, reason }) => `${serverPath(elements)}: ${reason}`) };

  const name = managerName(request, 'Apply');
  const key = keyOfManager(name);
  const managers = new Map(reconcileManagers(managersBefore(request, stored), request));
  const last = managers.get(key);
  managers.set(key, { ...last, ...name, set: differenceBelow(set, resetSet(request)) });
  const live = withoutManagers(request.live ?? zeroObject(applied, type));
  const object = mergeAndPrune(live, request, last?.set ?? EMPTY_SET, managers);

  const all = changesBetween(live as JsonObject, object as JsonObject, type);
  const changes = withoutReset(all, resetSet(request));
  const conflicts = force ? [] : conflictsWith(managers, changes, key);
  if (conflicts.length > 0) return { conflicts };
  const unchanged = jsonEquals(live, object);
  const left = withOwnEntry(takeAway(managers, changes, key), key, unchanged ? undefined : request.time);
  return { object: withManagers(unchanged ? live : object, left) };
}

/** Returns the managers of the live object. An object without managers is treated as written by one update. */
function managersBefore(request: ApplyRequest, stored: Managers): Managers {
  const { live, type } = request;
  if (live === undefined || stored.size > 0) return stored;
  const context = { ...request, manager: 'before-first-apply' };
  return updateManagers(stored, zeroObject(live, type), withoutManagers(live), context);
}

function mergeAndPrune(live: KubeObject, request: ApplyRequest, last: FieldSet, managers: Managers): KubeObject {
  const { applied, type } = request;
  const merged = (mergeValues(live as JsonObject, applied as JsonObject, type) ?? {}) as KubeObject;
  if (last.size === 0) return merged;
  let owned = EMPTY_SET;
  for (const { set } of managers.values()) owned = union(owned, set);
  return prune({ merged, type, last, owned });
}

/**
 * Removes fields that no manager owns (such as `kind` and `metadata.name`) from the entry of the applying manager, and
 * removes the entry if it is empty. Sets the entry's time if `time` is given.
 */
function withOwnEntry(managers: Managers, key: string, time: string | undefined): Managers {
  const left = new Map(managers);
  const own = left.get(key);
  if (own === undefined) return left;
  const set = withoutIdentity(own.set);
  if (set.size === 0) left.delete(key);
  else left.set(key, { ...own, set, time: time ?? own.time });
  return left;
}

/** Returns `after` with the managedFields after a POST, PUT or PATCH that is not an apply. */
export function trackUpdate(request: UpdateRequest): KubeObject {
  const { before, type } = request;
  const after = withoutManagers(request.after);
  const managers = sentManagers(request);
  // If a client has removed all entries, ownership is not tracked again before the next apply.
  if (managers.size === 0 && before !== undefined) return after;
  // An object that does not fit its type (such as a list item without its key) is stored, but its owners cannot be
  // determined.
  if (fieldsOf(after, type, { duplicates: true }).misfits.length > 0) return after;
  const old = withoutManagers(before ?? zeroObject(after, type));
  return withManagers(after, updateManagers(managers, old, after, request));
}

/**
 * Returns the managers that the client sent. Clients may edit the entries. A single empty entry removes all entries. An
 * empty list removes all entries only for built-in kinds. Absent or unreadable entries change nothing.
 */
function sentManagers({ before, after, subresource, type }: UpdateRequest): Managers {
  const stored = parseManagers(before?.metadata.managedFields ?? []) ?? new Map<string, Manager>();
  const sent = after.metadata.managedFields;
  if (subresource || sent === undefined || sent === null) return stored;
  const [first, ...more] = sent;
  if (first === undefined) return type.storage === 'struct' ? new Map() : stored;
  if (more.length === 0 && Object.keys(first).length === 0) return new Map();
  return parseManagers(sent) ?? stored;
}

/**
 * Returns `before` itself if `after` differs only in the times of managedFields, so that nothing is written. Must be
 * called with the object that will be stored, before resourceVersion and generation are incremented.
 */
export function keepTimes(before: KubeObject, after: KubeObject): KubeObject {
  const [old, now] = [before.metadata.managedFields ?? [], after.metadata.managedFields ?? []];
  if (old.length !== now.length) return after;
  const sameEntries = jsonEquals(old.map(withoutTime), now.map(withoutTime));
  return sameEntries && jsonEquals(withoutManagers(before), withoutManagers(after)) ? before : after;
}

function withoutTime({ time: _, ...entry }: ManagedFieldsEntry): Omit<ManagedFieldsEntry, 'time'> {
  return entry;
}

function withoutManagers(object: KubeObject): KubeObject {
  if (!isObject(object.metadata) || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function withManagers(object: KubeObject, managers: Managers): KubeObject {
  if (managers.size === 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: formatManagers(managers) } };
}
