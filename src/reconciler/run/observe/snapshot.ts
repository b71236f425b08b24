// Reads the live objects. Each kind is listed at most once per snapshot, by the first caller that needs it.
// `large-contents` reads Secrets and ConfigMaps.

import { shortenObject, standInsOf } from '#kubernetes/rules/large-values.ts';
import { groupOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { ApiResource, Cluster } from '../ports.ts';
import {
  type EarlierContents,
  isLarge,
  type Listed,
  listLarge,
  neededAgain,
  readContents,
  tryRead,
} from './large-contents.ts';

export interface Snapshot {
  /** Ensures that the kinds are listed. Kinds that the server does not serve are skipped. */
  ensure(kinds: Iterable<GroupKind>): Promise<void>;
  /** Begins to list the kinds early. Skips Secrets and ConfigMaps, whose reading depends on the declared objects. */
  begin(kinds: Iterable<GroupKind>): void;
  /** Accepts declared objects: live objects with the same contents then share their values. */
  declare(objects: readonly KubeObject[]): void;
  /** Lists the kind in this version, even after another version: live objects are compared in the declared version. */
  listAs(resource: ApiResource): void;
  find(id: ResourceId): KubeObject | undefined;
  findByKey(key: string): KubeObject | undefined;
  /** Returns true if only the metadata of the object is known. */
  isPartial(id: ResourceId): boolean;
  /** Reads missing contents for a comparison: long values stay replaced by their stand-ins. */
  complete(ids: Iterable<ResourceId>): Promise<void>;
  /** Reads missing contents with their long values, for kinds that read them. */
  completeWhole(ids: Iterable<ResourceId>): Promise<void>;
  /** Returns all objects that were listed so far. */
  objects(): readonly KubeObject[];
  /** Returns false if the kind was not read completely: an object that `find` does not return may still exist. */
  known(kind: GroupKind): boolean;
  /** Returns true if the result of `find` is certain, even if another object of the kind is unreadable. */
  knows(id: ResourceId): boolean;
  served(kind: GroupKind): ApiResource | undefined;
  /** Returns the names of kinds that were not read completely. */
  unlisted(): ReadonlySet<string>;
  /** Returns the failed reads, with the response of the server. */
  failures(): readonly Failure[];
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export function groupKindOf(id: { readonly apiVersion: string; readonly kind: string }): GroupKind {
  return { group: groupOf(id.apiVersion), kind: id.kind };
}

/** Returns `Kind.group`, or `Kind` for the core group, as kubectl writes it. */
export function formatGroupKind({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

export function parseGroupKind(text: string): GroupKind {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', kind: text } : { kind: text.slice(0, dot), group: text.slice(dot + 1) };
}

export interface SnapshotOptions {
  /** If undefined, the whole cluster is read. */
  readonly namespaces: readonly string[] | undefined;
  /** Id of our ApplySet: its members are read with their contents. */
  readonly applySet: string;
  /** Contents that an earlier snapshot needed, and that are needed again. */
  readonly before?: EarlierContents | undefined;
}

/** Returns the part of a read object that stays in memory. */
type Hold = (object: KubeObject) => KubeObject;

interface Reading extends SnapshotOptions {
  readonly cluster: Cluster;
  /** Kinds whose LISTs have all succeeded. */
  readonly whole: Set<string>;
  readonly objects: Map<string, KubeObject>;
  readonly partial: Set<string>;
  /** Keys of objects that exist but could not be read. */
  readonly unread: Set<string>;
  /** Failures by kind, for kinds that were not read completely. A later success does not remove them. */
  readonly failed: Map<string, readonly Failure[]>;
  /** Declared objects by key. */
  readonly declared: Map<string, KubeObject>;
}

/** Reads discovery at once, and lists kinds on demand. */
export async function openSnapshot(cluster: Cluster, options: SnapshotOptions): Promise<Snapshot> {
  const served = new Map<string, ApiResource>();
  for (const resource of await cluster.resources()) {
    const name = formatGroupKind(groupKindOf(resource));
    if (!served.has(name)) served.set(name, resource);
  }
  const listed = new Map<string, Promise<void>>();
  const reading = beginReading(cluster, options);
  const { declared, whole, objects, partial, unread, failed } = reading;
  function lacksContents(id: ResourceId): boolean {
    if (!isLarge(id)) return false;
    const found = objects.get(keyOf(id));
    return partial.has(keyOf(id)) || (found !== undefined && standInsOf(found).length > 0);
  }
  async function completeAll(ids: readonly ResourceId[], hold: Hold): Promise<void> {
    const distinct = new Map(ids.map((id) => [keyOf(id), id]));
    const byKind = Map.groupBy(distinct.values(), (id) => formatGroupKind(groupKindOf(id)));
    await Promise.all(
      [...byKind].map(async ([name, some]) => {
        const resource = served.get(name);
        if (resource !== undefined) await complete(reading, resource, some, hold);
      }),
    );
  }
  function listOnce(kind: GroupKind): Promise<void> | undefined {
    const name = formatGroupKind(kind);
    const resource = served.get(name);
    if (resource !== undefined && !listed.has(name)) listed.set(name, readKind(reading, resource));
    return listed.get(name);
  }
  return {
    async ensure(kinds) {
      await Promise.all([...kinds].map(listOnce));
    },
    begin(kinds) {
      for (const kind of kinds) {
        const resource = served.get(formatGroupKind(kind));
        if (resource === undefined || isLarge(resource)) continue;
        // A caller that ensures the kind, or compares its objects, repeats the request and gets the error.
        listOnce(kind)?.catch(() => undefined);
        cluster.schema(resource.apiVersion).catch(() => undefined);
      }
    },
    declare(some) {
      for (const object of some) if (isLarge(object)) declared.set(keyOfObject(object), object);
    },
    listAs(resource) {
      const name = formatGroupKind(groupKindOf(resource));
      const begun = served.get(name)?.apiVersion === resource.apiVersion ? undefined : listed.get(name);
      served.set(name, resource);
      const again = begun?.then(() => readAgain(reading, resource));
      if (again !== undefined) listed.set(name, again);
    },
    find: (id) => objects.get(keyOf(id)),
    findByKey: (key) => objects.get(key),
    isPartial: (id) => partial.has(keyOf(id)),
    complete: (ids) =>
      completeAll(
        [...ids].filter((id) => isLarge(id) && partial.has(keyOf(id))),
        shortenObject,
      ),
    completeWhole: (ids) => completeAll([...ids].filter(lacksContents), (object) => object),
    objects: () => [...objects.values()],
    known: (kind) => whole.has(formatGroupKind(kind)) && !failed.has(formatGroupKind(kind)),
    knows: (id) => whole.has(formatGroupKind(groupKindOf(id))) && !unread.has(keyOf(id)),
    served: (kind) => served.get(formatGroupKind(kind)),
    unlisted: () => new Set([...failed.keys()].map((name) => parseGroupKind(name).kind)),
    failures: () => [...failed.values()].flat(),
  };
}

function beginReading(cluster: Cluster, options: SnapshotOptions): Reading {
  return {
    ...options,
    cluster,
    whole: new Set(),
    objects: new Map(),
    partial: new Set(),
    unread: new Set(),
    failed: new Map(),
    declared: new Map(),
  };
}

/** Marks only the kind of the failed read as unknown. */
function noteFailure({ failed }: Reading, resource: ApiResource, failure: Failure): void {
  const name = formatGroupKind(groupKindOf(resource));
  failed.set(name, [...(failed.get(name) ?? []), failure]);
}

/** Lists the kind in this version. Objects and failures of another version are removed. */
async function readAgain(reading: Reading, resource: ApiResource): Promise<void> {
  const { failed, objects, whole } = reading;
  const kind = formatGroupKind(groupKindOf(resource));
  for (const [key, object] of objects) if (formatGroupKind(groupKindOf(object)) === kind) objects.delete(key);
  whole.delete(kind);
  failed.delete(kind);
  await readKind(reading, resource);
}

/** Lists the kind. If a namespace cannot be listed, the objects of all other namespaces stay. */
async function readKind(reading: Reading, resource: ApiResource): Promise<void> {
  const { namespaces } = reading;
  const scopes = resource.namespaced && namespaces !== undefined ? namespaces : [undefined];
  const read = await Promise.all(scopes.map((scope) => tryRead(readScope(reading, resource, scope))));
  for (const found of read) if (found instanceof Failure) noteFailure(reading, resource, found);
  if (!read.some((found) => found instanceof Failure)) reading.whole.add(formatGroupKind(groupKindOf(resource)));
  await Promise.all(read.map((found) => (found instanceof Failure ? undefined : add(reading, resource, found))));
}

async function add(reading: Reading, resource: ApiResource, found: Listed): Promise<void> {
  const { before, objects, partial } = reading;
  for (const object of found.objects) objects.set(keyOfObject(object), object);
  for (const key of found.partial) partial.add(key);
  if (before === undefined || found.partial.size === 0) return;
  const { same, changed } = neededAgain(found, before);
  store(reading, same);
  await complete(reading, resource, changed, shortenObject);
}

async function readScope(
  { cluster, applySet, declared }: Reading,
  resource: ApiResource,
  namespace: string | undefined,
): Promise<Listed> {
  if (!isLarge(resource))
    return { objects: await cluster.list(resource, namespace, { kept: true }), partial: new Set() };
  return listLarge(cluster, resource, namespace, applySet, (id) => declared.get(keyOf(id)));
}

/** Reads contents. Deleted objects are removed; objects that cannot be read are noted as unread. */
async function complete(
  reading: Reading,
  resource: ApiResource,
  ids: readonly ResourceId[],
  hold: Hold,
): Promise<void> {
  if (ids.length === 0) return;
  const { objects, partial, unread } = reading;
  const contents = await readContents(reading.cluster, resource, ids, hold);
  for (const id of ids) objects.delete(keyOf(id));
  for (const id of ids) partial.delete(keyOf(id));
  store(reading, contents.found);
  for (const id of contents.unread) unread.add(keyOf(id));
  for (const failure of contents.failures) noteFailure(reading, resource, failure);
}

function store({ objects, partial }: Reading, complete: readonly KubeObject[]): void {
  for (const object of complete) {
    const key = keyOfObject(object);
    objects.set(key, object);
    partial.delete(key);
  }
}
