// Reads the live objects. Each kind is listed when a caller needs it first; only `listAs` may list it again.
// `large-contents` reads Secrets and ConfigMaps.

import { shortenObject, standInsOf } from '#kubernetes/rules/large-values.ts';
import { groupOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { ApiResource, Cluster } from '../ports.ts';
import {
  type EarlierContents,
  isLarge,
  type LargeContents,
  listLarge,
  neededAgain,
  readContents,
  tryRead,
} from './large-contents.ts';

export interface Snapshot {
  /** Lists the kinds that are not listed yet. Kinds that the server does not serve are skipped. */
  ensure(kinds: Iterable<GroupKind>): Promise<void>;
  /** Starts to list the kinds without waiting. Skips Secrets and ConfigMaps, whose LISTs depend on declared objects. */
  begin(kinds: Iterable<GroupKind>): void;
  /** Receives declared objects. Live objects then share equal values with them. */
  declare(objects: readonly KubeObject[]): void;
  /**
   * Makes the snapshot contain the kind in this version, and lists it again if another version was listed. Objects are
   * compared in the declared version.
   */
  listAs(resource: ApiResource): void;
  find(id: ResourceId): KubeObject | undefined;
  findByKey(key: string): KubeObject | undefined;
  /** Returns true if only the metadata of the object was read. */
  isPartial(id: ResourceId): boolean;
  /** Reads missing contents for a comparison. Long values are replaced by stand-ins. */
  complete(ids: Iterable<ResourceId>): Promise<void>;
  /** Reads missing contents with their long values, for the code of kinds that uses these values. */
  completeWhole(ids: Iterable<ResourceId>): Promise<void>;
  objects(): readonly KubeObject[];
  /** Returns false if the kind was not read completely. An object may then exist although `find` does not return it. */
  known(kind: GroupKind): boolean;
  /** Returns true if the result of `find` is certain, even if other objects of the kind could not be read. */
  knows(id: ResourceId): boolean;
  served(kind: GroupKind): ApiResource | undefined;
  /** Returns the names of the kinds that were not read completely. */
  unlisted(): ReadonlySet<string>;
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
  /** If undefined, all namespaces are read. */
  readonly namespaces: readonly string[] | undefined;
  /** Id of our ApplySet. The contents of its members are read. */
  readonly applySet: string;
  /** Contents that an earlier snapshot of the same run read. The new snapshot contains them too. */
  readonly before?: EarlierContents | undefined;
}

type Hold = (object: KubeObject) => KubeObject;

interface SnapshotState extends SnapshotOptions {
  readonly cluster: Cluster;
  /** Kinds whose LISTs have all succeeded. */
  readonly whole: Set<string>;
  readonly objects: Map<string, KubeObject>;
  readonly partial: Set<string>;
  /** Keys of objects that exist but could not be read. */
  readonly unread: Set<string>;
  /** Failures by kind, for kinds that were not read completely. Only `readAgain` removes them. */
  readonly failed: Map<string, readonly Failure[]>;
  /** Declared Secrets and ConfigMaps by key. */
  readonly declared: Map<string, KubeObject>;
}

/** Opens a snapshot. Discovery is read at once; kinds are listed on demand. */
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
        // Later callers get the error: `ensure` waits for the same LIST, and a comparison requests the schema again.
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

function beginReading(cluster: Cluster, options: SnapshotOptions): SnapshotState {
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

function noteFailure({ failed }: SnapshotState, resource: ApiResource, failure: Failure): void {
  const name = formatGroupKind(groupKindOf(resource));
  failed.set(name, [...(failed.get(name) ?? []), failure]);
}

/** Lists the kind in this version, and removes its objects and failures in another version. */
async function readAgain(reading: SnapshotState, resource: ApiResource): Promise<void> {
  const { failed, objects, whole } = reading;
  const kind = formatGroupKind(groupKindOf(resource));
  for (const [key, object] of objects) if (formatGroupKind(groupKindOf(object)) === kind) objects.delete(key);
  whole.delete(kind);
  failed.delete(kind);
  await readKind(reading, resource);
}

/** Lists the kind. If one namespace cannot be listed, the objects of all other namespaces are kept. */
async function readKind(reading: SnapshotState, resource: ApiResource): Promise<void> {
  const { namespaces } = reading;
  const scopes = resource.namespaced && namespaces !== undefined ? namespaces : [undefined];
  const read = await Promise.all(scopes.map((scope) => tryRead(readScope(reading, resource, scope))));
  for (const found of read) if (found instanceof Failure) noteFailure(reading, resource, found);
  if (!read.some((found) => found instanceof Failure)) reading.whole.add(formatGroupKind(groupKindOf(resource)));
  await Promise.all(read.map((found) => (found instanceof Failure ? undefined : add(reading, resource, found))));
}

async function add(reading: SnapshotState, resource: ApiResource, found: LargeContents): Promise<void> {
  const { before, objects, partial } = reading;
  for (const object of found.objects) objects.set(keyOfObject(object), object);
  for (const key of found.partial) partial.add(key);
  if (before === undefined || found.partial.size === 0) return;
  const { same, changed } = neededAgain(found, before);
  store(reading, same);
  await complete(reading, resource, changed, shortenObject);
}

async function readScope(
  { cluster, applySet, declared }: SnapshotState,
  resource: ApiResource,
  namespace: string | undefined,
): Promise<LargeContents> {
  if (!isLarge(resource))
    return { objects: await cluster.list(resource, namespace, { kept: true }), partial: new Set() };
  return listLarge(cluster, resource, namespace, applySet, (id) => declared.get(keyOf(id)));
}

/** Reads contents. Removes deleted objects, and adds objects that could not be read to `unread`. */
async function complete(
  reading: SnapshotState,
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

function store({ objects, partial }: SnapshotState, complete: readonly KubeObject[]): void {
  for (const object of complete) {
    const key = keyOfObject(object);
    objects.set(key, object);
    partial.delete(key);
  }
}
