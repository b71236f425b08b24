// Stores in ConfigMaps of the home namespace which objects an instance has created, because any user may write labels.
// An entry is written before its object is created. The next write adds the uid of the object. Until that write, the
// object is recognised by the run id in its annotation. The inventory also contains the deletions of a run, from before
// the first deletion until after the last deletion.

import { type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, parseJson } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import { RUN } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import { readRecord, recordId, SHARD_BYTES_MAX, SHARDS_MAX, storeRecord } from './home-record.ts';

export interface InventoryEntry {
  /** Value of the source label. */
  readonly source: string;
  /** Id of the run that created or recorded the object. */
  readonly run: string;
  /** Uid of the object; absent until a run has observed the created object. */
  readonly uid?: string;
}

export interface Leaving {
  readonly uid: string;
  /** Hash of the approval for the deletion; absent if the deletion needed no approval. */
  readonly approval?: string;
  /** Set if the object is created again after its deletion. */
  readonly replaced?: true;
}

export interface InventoryContent {
  /** Entries by key of the object. */
  readonly entries: ReadonlyMap<string, InventoryEntry>;
  /** Deletions by key of the object. They may or may not have reached the server. */
  readonly leaving: ReadonlyMap<string, Leaving>;
}

export interface Inventory extends InventoryContent {
  /** ConfigMaps by number, as they were read; empty before the first write. */
  readonly stored: readonly (KubeObject | undefined)[];
}

const PURPOSE = 'inventory';
const SHARDS = 'skep.dev/shards';

export async function readInventory(cluster: Pick<Cluster, 'get'>, home: InstanceName): Promise<Inventory> {
  const first = await readRecord(cluster, home, PURPOSE);
  if (first === undefined) return { entries: new Map(), leaving: new Map(), stored: [] };
  const count = Math.min(SHARDS_MAX, Number(first.metadata.annotations?.[SHARDS] ?? '1') || 1);
  const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);
  const others = await Promise.all(numbers.map((shard) => readRecord(cluster, home, PURPOSE, shard)));
  const stored = [first, ...others];
  const lines = stored.flatMap((shard) => (shard === undefined ? [] : linesOf(shard)));
  return { entries: new Map(lines.flatMap(entryOfLine)), leaving: new Map(lines.flatMap(leavingOfLine)), stored };
}

function entryOfLine([kind, key, { source, run, uid }]: InventoryLine): [string, InventoryEntry][] {
  if (kind !== 'entry' || typeof source !== 'string' || typeof run !== 'string') return [];
  return [[key, { source, run, uid: typeof uid === 'string' ? uid : undefined }]];
}

function leavingOfLine([kind, key, { uid, approval, replaced }]: InventoryLine): [string, Leaving][] {
  if (kind !== 'leaving' || typeof uid !== 'string') return [];
  const given = typeof approval === 'string' ? approval : undefined;
  return [[key, { uid, approval: given, replaced: replaced === true ? true : undefined }]];
}

type InventoryLine = readonly ['entry' | 'leaving', string, Readonly<Record<string, unknown>>];

/** Returns the lines of a ConfigMap. Lines that a person has damaged are left out. */
function linesOf({ data }: KubeObject): InventoryLine[] {
  const text = isObject(data) && typeof data.lines === 'string' ? data.lines : '';
  return text.split('\n').flatMap((line): InventoryLine[] => {
    const value = parseJson(line);
    if (!Array.isArray(value)) return [];
    const [kind, key, facts] = value;
    const known = kind === 'entry' || kind === 'leaving';
    return known && typeof key === 'string' && isObject(facts) ? [[kind, key, facts]] : [];
  });
}

/**
 * Writes the changed ConfigMaps. The first ConfigMap is written last, because it contains the number of ConfigMaps.
 * Throws Failure `inventory-full`, and `cluster-conflict` if another writer was faster.
 */
export async function storeInventory(
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  home: InstanceName,
  before: Inventory,
  content: InventoryContent,
): Promise<Inventory> {
  const lines: InventoryLine[] = [
    ...[...content.entries].map(([key, entry]): InventoryLine => ['entry', key, { ...entry }]),
    ...[...content.leaving].map(([key, leaving]): InventoryLine => ['leaving', key, { ...leaving }]),
  ];
  const shards = spread(lines, before.stored.length);
  const stored = [...before.stored];
  for (const shard of [...shards.keys()].reverse()) {
    const object = stored[shard];
    const data = { lines: shards[shard] ?? '' };
    const annotations = { [SHARDS]: String(shards.length) };
    const same = isObject(object?.data) && object.data.lines === data.lines;
    if (same && (shard > 0 || object?.metadata.annotations?.[SHARDS] === annotations[SHARDS])) continue;
    // If a run was killed while the inventory grew, this ConfigMap may exist although the first ConfigMap does not
    // count it.
    const left = object ?? (shard === 0 ? undefined : await readRecord(cluster, home, PURPOSE, shard));
    stored[shard] = await storeRecord(cluster, recordId(home, PURPOSE, shard), left, { data }, annotations);
  }
  return { ...content, stored };
}

/**
 * Distributes lines to ConfigMaps by a digest of their key. If the number of ConfigMaps doubles, a line stays in its
 * ConfigMap or moves to an added ConfigMap.
 */
function spread(lines: readonly InventoryLine[], before: number): readonly string[] {
  for (let count = Math.max(1, before); count <= SHARDS_MAX; count *= 2) {
    const texts: string[][] = Array.from({ length: count }, () => []);
    for (const line of lines) texts[shardOf(line[1], count)]?.push(JSON.stringify(line));
    const shards = texts.map((each) => each.sort().join('\n'));
    if (shards.every((text) => text.length <= SHARD_BYTES_MAX)) return shards;
  }
  const message = `${lines.length} objects are more than the inventory of one instance can record: split the sources over several instances`;
  throw new Failure('inventory-full', message);
}

function shardOf(key: string, count: number): number {
  return Number.parseInt(sha256(key).slice(0, 8), 16) % count;
}

/**
 * Returns a function that returns true if the instance has created the object. The entry must have the uid of the
 * object, or the run id in the annotation of the object.
 */
export function isRecorded({ entries }: InventoryContent, manager: string): (object: KubeObject) => boolean {
  return (object) => {
    const entry = entries.get(keyOfObject(object));
    if (entry === undefined) return false;
    return (entry.uid !== undefined && entry.uid === object.metadata.uid) || entry.run === runOf(object, manager);
  };
}

/** Returns the id of the run that created the object; undefined if the annotation was not applied by `manager`. */
export function runOf(object: KubeObject, manager: string): string | undefined {
  const fields = entryOf(object, manager)?.fieldsV1;
  const metadata = isObject(fields) ? fields['f:metadata'] : undefined;
  const annotations = isObject(metadata) ? metadata['f:annotations'] : undefined;
  const owned = isObject(annotations) && annotations[`f:${RUN}`] !== undefined;
  return owned ? object.metadata.annotations?.[RUN] : undefined;
}
