// Wraps the cluster for the writes of a run. Each write requires the version of the object that this run knows. A
// request that is delayed until after the lease expired thus cannot overwrite the next holder's writes.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject, jsonEquals } from '#std/json.ts';
import { formatId, type ResourceId } from '#std/problem.ts';
import { OWNER, PART_OF, PRUNE, RECONCILE, SOURCE } from '../labels.ts';
import type { Cluster } from '../ports.ts';

/**
 * A resourceVersion that no object has. An apply with this version succeeds only if the object does not exist:
 * Kubernetes compares versions only with an existing object (docs/testing.md, on real servers).
 */
const NOTHING_LIVES = '1';
const ATTEMPTS_MAX = 5;

/** Preconditions of a write, apart from the labels and annotations of the object. */
interface Precondition {
  readonly uid?: string | undefined;
  readonly seen?: string | undefined;
  readonly creation?: KubeObject | undefined;
}

/** Code of the Failure of an abandoned write: another writer changed the object's labels or annotations of skep. */
export const OVERTAKEN = 'overtaken';

/**
 * Returns a cluster that writes only over known versions. `living` returns an object as the run has read it. If another
 * writer changed the object, the write is repeated with the new version, unless `assertHeld` throws. Throws Failure
 * `overtaken` if that writer changed labels or annotations of skep, or created the object with different labels. Throws
 * Failure `cluster-conflict` if the applied object names a version that is no longer current.
 */
export function onlyCurrent(
  cluster: Cluster,
  living: (key: string) => KubeObject | undefined,
  assertHeld: () => void,
): Cluster {
  /** Objects that this run has written; undefined for an object that this run has deleted. */
  const written = new Map<string, KubeObject | undefined>();
  const known = (key: string): KubeObject | undefined => (written.has(key) ? written.get(key) : living(key));

  /**
   * Repeats the write while another writer changes the object, up to `ATTEMPTS_MAX` attempts. Returns undefined if the
   * object was deleted. If `seen` is set, the write may replace only this version.
   */
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
      // An apply of a status never creates an object, and the applied object has no labels.
      const { uid, resourceVersion: seen } = object.metadata;
      const isCreation = options.subresource === undefined && uid === undefined;
      const precondition = { uid, seen, creation: isCreation ? object : undefined };
      // If the object was deleted in the meantime, this write creates the object again. If the object names a uid, the
      // write fails.
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
    // The fence of the cluster does not check `create` and `replace`, because the lease itself is written with them.
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

/** Drops the contents of the object. Otherwise the contents would stay in memory until the run ends. */
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

/**
 * Returns true if a version or uid was not current. Conflicts of field managers have the cause FieldManagerConflict.
 */
function mayBeStale(error: unknown): boolean {
  if (!(error instanceof Failure) || error.code !== 'cluster-conflict') return false;
  const causes = Array.isArray(error.data.causes) ? error.data.causes.filter(isObject) : [];
  return causes.every(({ reason }) => reason !== 'FieldManagerConflict');
}
