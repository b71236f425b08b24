// Decides which changes in the cluster start a run: changes of managed objects, and of other managers' custom resources
// whose children the instance creates. Objects that change often start runs at growing intervals.

import type { ObjectChange } from '#adapters/cluster/kept/kept-list.ts';
import { groupOf, idOf, type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import type { InstanceName, Permissions } from '#reconciler/run/instance.ts';
import { applySetId, fieldManager, labelOf, PART_OF } from '#reconciler/run/labels.ts';
import { scopeOf } from '#reconciler/run/observe/scope.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { isRecord } from '#reconciler/run/records/home-record.ts';
import { jsonEquals } from '#std/json.ts';

export interface WakesDeps {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Requests a run. */
  readonly wake: () => void;
}

export type WakesOptions = InstanceName & Pick<Permissions, 'namespaces' | 'scope'> & { readonly apiGroup: string };

export interface Wakes {
  take(changes: readonly ObjectChange[]): void;
  close(): void;
}

/** Time during which changes of an object are counted. */
const WITHIN_MS = 60_000;
/**
 * Number of counted changes of an object that request a run without delay. The next change waits one second, and each
 * further change waits twice as long as the change before, up to `WAIT_MAX_MS`.
 */
const AT_ONCE = 4;
const WAIT_MAX_MS = 30_000;

export function openWakes({ clock, wake }: WakesDeps, options: WakesOptions): Wakes {
  const matters = mattersTo(options);
  /** Times of counted changes, by object. */
  const times = new Map<string, readonly number[]>();
  const closing = new AbortController();
  let nextAt = Infinity;

  function waitOf(key: string): number {
    const now = clock.monotonic();
    const recent = (times.get(key) ?? []).filter((at) => now - at < WITHIN_MS);
    times.set(key, [...recent, now]);
    const beyond = recent.length - AT_ONCE;
    return beyond < 0 ? 0 : Math.min(WAIT_MAX_MS, 1000 * 2 ** beyond);
  }

  function wakeAfter(ms: number): void {
    if (ms === 0) {
      nextAt = Infinity;
      wake();
      return;
    }
    const at = clock.monotonic() + ms;
    if (at >= nextAt) return;
    nextAt = at;
    void clock.sleep(ms, closing.signal).then(() => {
      // An earlier wake replaces this wake.
      if (nextAt !== at || closing.signal.aborted) return;
      nextAt = Infinity;
      wake();
    });
  }

  return {
    take(changes) {
      forgetOld(times, clock.monotonic());
      // A Secret or ConfigMap is in two lists, so its change is reported twice.
      const keys = new Set(changes.filter(matters).map(keyOfChange));
      let wait = Infinity;
      for (const key of keys) wait = Math.min(wait, waitOf(key));
      if (keys.size > 0) wakeAfter(wait);
    },
    close: () => closing.abort(),
  };
}

function forgetOld(times: Map<string, readonly number[]>, now: number): void {
  for (const [key, wakes] of times) if (wakes.every((at) => now - at >= WITHIN_MS)) times.delete(key);
}

function keyOfChange({ before, after }: ObjectChange): string {
  const object = after ?? before;
  return object === undefined ? '' : keyOfObject(object);
}

/** Returns a function that says whether a run could have something to do because of a change. */
export function mattersTo(options: WakesOptions): (change: ObjectChange) => boolean {
  const applySet = applySetId(options.instance, options.homeNamespace);
  const manager = fieldManager(options.instance);
  const { allows } = scopeOf(options.namespaces);
  const isKept = (object: KubeObject): boolean =>
    labelOf(object, PART_OF) === applySet ||
    isOwnRecord(options, object, manager) ||
    (options.scope === 'cluster' &&
      groupOf(object.apiVersion) === options.apiGroup &&
      allows(object.metadata.namespace ?? ''));
  return ({ before, after }) => {
    if (![before, after].some((object) => object !== undefined && isKept(object))) return false;
    return before === undefined || after === undefined || !hasSameIntent(before, after, manager);
  };
}

/** Returns whether the object is a record of this instance. Records of other instances change with their runs. */
function isOwnRecord(options: WakesOptions, object: KubeObject, manager: string): boolean {
  const { name, namespace } = object.metadata;
  const isNamedSo = name === manager || name.startsWith(`${manager}-`);
  return namespace === options.homeNamespace && isNamedSo && isRecord(options, idOf(object));
}

/**
 * Returns true if two versions of an object differ only in their status, or in fields that the server or other managers
 * set.
 */
function hasSameIntent(before: KubeObject, after: KubeObject, manager: string): boolean {
  return jsonEquals(intentOf(before, manager), intentOf(after, manager));
}

function intentOf(object: KubeObject, manager: string): unknown {
  const { status: _status, metadata, ...content } = object;
  const { resourceVersion: _version, managedFields: _fields, ...named } = metadata;
  return { ...content, metadata: named, owned: entryOf(object, manager)?.fieldsV1 };
}
