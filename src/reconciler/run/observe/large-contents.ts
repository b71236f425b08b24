// Reads Secrets and ConfigMaps, most of which are not ours and may be large. Lists the metadata of all objects, and the
// contents of the members of our ApplySet. Reads further contents only if a run needs these contents.

import { shortenObject } from '#kubernetes/rules/large-values.ts';
import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { labelOf, OWNER, PART_OF } from '../labels.ts';
import type { ApiResource, Cluster } from '../ports.ts';

export interface LargeContents {
  readonly objects: readonly KubeObject[];
  /** Keys of the objects without contents: only their metadata was read. */
  readonly partial: ReadonlySet<string>;
}

export function isLarge({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return apiVersion === 'v1' && (kind === 'ConfigMap' || kind === 'Secret');
}

export async function listLarge(
  cluster: Pick<Cluster, 'list'>,
  resource: ApiResource,
  namespace: string | undefined,
  applySet: string,
  declared: (id: ResourceId) => KubeObject | undefined,
): Promise<LargeContents> {
  const hold = (object: KubeObject): KubeObject => holdOnce(shortenDeclared(object), declared(idOf(object)));
  const [all, own] = await Promise.all([
    cluster.list(resource, namespace, { only: 'metadata', kept: true }),
    cluster.list(resource, namespace, { selector: `${PART_OF}=${applySet}`, large: true, hold, kept: true }),
  ]);
  const complete = new Set(own.map((object) => keyOfObject(object)));
  const others = all.filter((object) => !complete.has(keyOfObject(object)));
  return { objects: [...others, ...own], partial: new Set(others.map((object) => keyOfObject(object))) };
}

/**
 * Shortens declared objects. Children are not shortened: their desired contents are in memory anyway, and a run must
 * keep their generated values.
 */
function shortenDeclared(object: KubeObject): KubeObject {
  return labelOf(object, OWNER) === undefined ? shortenObject(object) : object;
}

/** Maps a live object to the declared object whose values it shares. */
const heldOnce = new WeakMap<KubeObject, KubeObject>();

/** Returns the live object with equal values taken from the declared object, so that each value is in memory once. */
function holdOnce(live: KubeObject, declared: KubeObject | undefined): KubeObject {
  if (declared === undefined || heldOnce.get(live) === declared) return live;
  const members = MEMBERS.flatMap((member): [string, JsonObject][] => {
    const [here, there] = [live[member], declared[member]];
    if (!isObject(here) || !isObject(there)) return [];
    const entries = Object.entries(here).map(([key, value]) => [key, value === there[key] ? there[key] : value]);
    return [[member, Object.fromEntries(entries)]];
  });
  const held = { ...live, ...Object.fromEntries(members) };
  heldOnce.set(held, declared);
  return held;
}

const MEMBERS = ['data', 'binaryData'] as const;

/**
 * Maximum number of objects per namespace that are read one by one. If more objects are needed, the namespace is
 * listed, which needs fewer requests.
 */
const READ_SINGLY_MAX = 50;

export interface Contents {
  /** Objects that still exist. */
  readonly found: readonly KubeObject[];
  readonly unread: readonly ResourceId[];
  /** Failures, at most one per namespace. A refusal of one object mostly applies to all objects of its namespace. */
  readonly failures: readonly Failure[];
}

export async function readContents(
  cluster: Pick<Cluster, 'list' | 'get'>,
  resource: ApiResource,
  ids: readonly ResourceId[],
  hold: (object: KubeObject) => KubeObject,
): Promise<Contents> {
  const byNamespace = Map.groupBy(ids, ({ namespace }) => namespace);
  const read = await Promise.all(
    [...byNamespace].map(([namespace, here]) =>
      here.length <= READ_SINGLY_MAX
        ? readSingly(cluster, here, hold)
        : readAmong(cluster, resource, namespace, here, hold),
    ),
  );
  return {
    found: read.flatMap(({ found }) => found),
    unread: read.flatMap(({ unread }) => unread),
    failures: read.flatMap(({ failures }) => failures),
  };
}

async function readSingly(
  cluster: Pick<Cluster, 'get'>,
  ids: readonly ResourceId[],
  hold: (object: KubeObject) => KubeObject,
): Promise<Contents> {
  const readOne = async (id: ResourceId): Promise<KubeObject | undefined> => {
    const found = await cluster.get(id);
    return found && hold(found);
  };
  const read = await Promise.all(ids.map(async (id) => ({ id, got: await tryRead(readOne(id)) })));
  return {
    found: read.flatMap(({ got }) => (got === undefined || got instanceof Failure ? [] : [got])),
    unread: read.flatMap(({ id, got }) => (got instanceof Failure ? [id] : [])),
    failures: read.flatMap(({ got }) => (got instanceof Failure ? [got] : [])).slice(0, 1),
  };
}

async function readAmong(
  cluster: Pick<Cluster, 'list'>,
  resource: ApiResource,
  namespace: string | undefined,
  ids: readonly ResourceId[],
  hold: (object: KubeObject) => KubeObject,
): Promise<Contents> {
  const names = new Set(ids.map(({ name }) => name));
  const keep = ({ metadata }: KubeObject): boolean => names.has(metadata.name);
  const listed = await tryRead(cluster.list(resource, namespace, { large: true, keep, hold }));
  if (listed instanceof Failure) return { found: [], unread: ids, failures: [listed] };
  return { found: listed, unread: [], failures: [] };
}

export async function tryRead<T>(read: Promise<T>): Promise<T | Failure> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** Contents that an earlier snapshot of the run read. */
export interface EarlierContents {
  find(id: ResourceId): KubeObject | undefined;
  isPartial(id: ResourceId): boolean;
}

/** Splits the objects of the earlier snapshot into unchanged objects and objects that must be read again. */
export function neededAgain(
  { objects, partial }: LargeContents,
  before: EarlierContents,
): { readonly same: readonly KubeObject[]; readonly changed: readonly ResourceId[] } {
  const same: KubeObject[] = [];
  const changed: ResourceId[] = [];
  for (const object of objects) {
    const id = idOf(object);
    const known = partial.has(keyOf(id)) && !before.isPartial(id) ? before.find(id) : undefined;
    if (known === undefined) continue;
    const { uid, resourceVersion } = known.metadata;
    if (uid === object.metadata.uid && resourceVersion === object.metadata.resourceVersion) same.push(known);
    else changed.push(id);
  }
  return { same, changed };
}
