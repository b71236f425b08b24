// Wraps the cluster for the writes of a run. Each write requires the object as this run knows it, so that a request
// that was still under way when the lease expired cannot overwrite the writes of the next holder.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { OWNER, PART_OF, PRUNE, RECONCILE, SOURCE } from '../labels.ts';
import type { Cluster } from '../ports.ts';

/**
 * A version that no object of ours has. As a precondition it is met only if the object does not exist. (Kubernetes
 * checks the version of an applied object only if the object exists; docs/testing.md, on real servers.)
 */
const NOTHING_LIVES = '1';
const ATTEMPTS_MAX = 5;

/** Preconditions of a write, apart from the marks of the object. */
interface Precondition {
  readonly uid?: string | undefined;
  readonly seen?: string | undefined;
  readonly creation?: KubeObject | undefined;
}

/** Code of the Failure of a write that is abandoned because the marks of the object changed after the run read it. */
export const OVERTAKEN = 'overtaken';

/**
 * `living`: the objects that the run has read, by key. Controllers and people write at any time: an object that they
 * changed is read again and the write is repeated, as long as `assertHeld` does not throw, because then no other run of
 * the instance writes. Failure `overtaken` if they changed the marks that say which instance an object belongs to or
 * that it is to be left alone, or created an object with other marks than the declared ones. An apply that names the
 * version that it was computed from is not repeated over a newer one: Failure `cluster-conflict`.
 */
export function onlyCurrent(
  cluster: Cluster,
  living: (key: string) => KubeObject | undefined,
  assertHeld: () => void,
): Cluster {
  /** Objects that this run has written, and undefined for objects that it has deleted. */
  const written = new Map<string, KubeObject | undefined>();
  const known = (key: string): KubeObject | undefined => (written.has(key) ? written.get(key) : living(key));

  /** Returns undefined if the object was deleted. `seen` is the only version that the write may replace. */
  async function whileCurrent<T>(
    id: ResourceId,
    { uid, seen, creation }: Precondition,
    write: (resourceVersion: string) => Promise<T>,
  ): Promise<T | undefined> {
    const before = known(keyOf(id));
    let version = before?.metadata.resourceVersion ?? NOTHING_LIVES;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write(version);
      } catch (error) {
        if (!mayBeStale(error) || attempt === ATTEMPTS_MAX) throw error;
        assertHeld();
        const now = await cluster.get(id);
        if (now === undefined) return undefined;
        const { uid: found, resourceVersion = version } = now.metadata;
        if (resourceVersion === version || (uid !== undefined && uid !== found)) throw error;
        if (seen !== undefined && seen !== resourceVersion) throw error;
        if (before !== undefined) assertAsBefore(id, before, now);
        else if (creation !== undefined && isMarked(now)) assertAsBefore(id, creation, now);
        version = resourceVersion;
      }
    }
  }

  return {
    ...cluster,
    async apply(object, options) {
      if (options.dryRun === true) return cluster.apply(object, options);
      const id = idOf(object);
      const write = (resourceVersion: string): Promise<KubeObject> =>
        cluster.apply({ ...object, metadata: { ...object.metadata, resourceVersion } }, options);
      // An applied status has no labels, and creates no object.
      const { uid, resourceVersion: seen } = object.metadata;
      const isCreation = options.subresource === undefined && uid === undefined;
      const precondition = { uid, seen, creation: isCreation ? object : undefined };
      // If the object was deleted during the write, the second write creates it again, or fails because of its uid.
      const stored = (await whileCurrent(id, precondition, write)) ?? (await write(NOTHING_LIVES));
      written.set(keyOf(id), marksAlone(stored));
      return stored;
    },
    async patch(object, operations, options) {
      const before = known(keyOfObject(object));
      if (before !== undefined && options.dryRun !== true) assertAsBefore(idOf(object), before, object);
      const stored = await cluster.patch(object, operations, options);
      if (options.dryRun !== true) written.set(keyOfObject(object), stored);
      return stored;
    },
    async remove(id, uid, as) {
      await whileCurrent(id, { uid }, (resourceVersion) => cluster.remove(id, uid, as, resourceVersion));
      written.set(keyOf(id), undefined);
    },
    // The fence of the cluster does not cover records of the instance, because the lease is written in the same way.
    async create(object) {
      assertHeld();
      return cluster.create(object);
    },
    async replace(object) {
      assertHeld();
      return cluster.replace(object);
    },
  };
}

/** Drops the contents, which would otherwise stay in memory until the run ends. */
function marksAlone({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata };
}

function marksOf({ metadata: { labels = {}, annotations = {} } }: KubeObject): readonly (string | null)[] {
  const marks = [PART_OF, SOURCE, OWNER].map((name) => labels[name] ?? null);
  return [...marks, ...[PRUNE, RECONCILE].map((name) => annotations[name] ?? null)];
}

function isMarked(object: KubeObject): boolean {
  return marksOf(object).some((mark) => mark !== null);
}

function assertAsBefore(id: ResourceId, before: KubeObject, now: KubeObject): void {
  if (jsonEquals(marksOf(before), marksOf(now))) return;
  const message = `the labels or annotations of ${formatId(id)} that say which instance it belongs to were changed by another writer meanwhile: it is kept unchanged, and the next run decides again`;
  throw new Failure(OVERTAKEN, message);
}

/** Returns true for a conflict of versions or uids. A conflict between field managers has causes of its own type. */
function mayBeStale(error: unknown): boolean {
  if (!(error instanceof Failure) || error.code !== 'cluster-conflict') return false;
  const causes = Array.isArray(error.data.causes) ? error.data.causes.filter(isObject) : [];
  return causes.every(({ reason }) => reason !== 'FieldManagerConflict');
}
