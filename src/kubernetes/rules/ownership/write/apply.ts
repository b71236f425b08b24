// What an API server does to an object and its managedFields on apply and on any other write.

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
  /** As stored; absent when the object does not exist. */
  readonly live?: KubeObject;
  /** As sent, without managedFields. */
  readonly applied: KubeObject;
  readonly force: boolean;
}

/**
 * `object`: the merged object with its new managedFields, before defaulting, pruning and validation; the caller compares
 * what it would store with what is stored (`keepTimes`). A container that lost all it held is null there: what is stored
 * has it only where the kind keeps nulls. `conflicts`: by manager, each one's in the server's order. `invalid`: the applied object does not
 * fit its type; each text names the place.
 */
export type ApplyResult =
  | { readonly object: KubeObject }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly invalid: readonly string[] };

export interface UpdateRequest extends WriteContext {
  /** As stored; absent for a create. */
  readonly before?: KubeObject;
  /** As it will be stored, defaults included, `metadata.managedFields` as the client sent them. */
  readonly after: KubeObject;
}

/**
 * Server-side apply (Kubernetes documentation, "Server-Side Apply"). Entries of other apiVersions are taken to hold the
 * same paths: objects are not converted here.
 */
export function serverSideApply(request: ApplyRequest): ApplyResult {
  const result = applyOnce(request);
  if (request.manager !== KUBECTL) return result;
  const settled = 'conflicts' in result ? withoutOwnConflicts(request, result.conflicts) : result;
  return 'object' in settled ? { object: withLastApplied(settled.object, request.applied) } : settled;
}

/** What kubectl applied in the client before is no conflict for kubectl. */
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
    return { invalid: ['.metadata.managedFields: the object in the cluster has entries of no known form'] };
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

/** An object that no one tracked yet is taken to have been written by one update. */
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

/** The applier's entry without identity, with the time only of applies that changed something; gone where it is empty. */
function withOwnEntry(managers: Managers, key: string, time: string | undefined): Managers {
  const left = new Map(managers);
  const own = left.get(key);
  if (own === undefined) return left;
  const set = withoutIdentity(own.set);
  if (set.size === 0) left.delete(key);
  else left.set(key, { ...own, set, time: time ?? own.time });
  return left;
}

/** Gives `after` the managedFields of a POST, PUT or PATCH that is no apply. */
export function trackUpdate(request: UpdateRequest): KubeObject {
  const { before, type } = request;
  const after = withoutManagers(request.after);
  const managers = sentManagers(request);
  // An object whose entries were wiped is not tracked again before the next apply.
  if (managers.size === 0 && before !== undefined) return after;
  // What does not fit its type (a list item without its key, say) is stored, but no one is known to own anything then.
  if (fieldsOf(after, type, { duplicates: true }).misfits.length > 0) return after;
  const old = withoutManagers(before ?? zeroObject(after, type));
  return withManagers(after, updateManagers(managers, old, after, request));
}

/**
 * Clients may edit the entries; one empty entry wipes them (as an empty list does, but not for custom resources), none or
 * unreadable ones leave them.
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
 * `before` itself where `after` differs from it in nothing but the times of managedFields: nothing is written then.
 * To be called on what would be stored, resourceVersion and generation not yet moved.
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
