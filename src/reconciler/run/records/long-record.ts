// Stores texts by key in a record that may be larger than one ConfigMap. Long texts are cut into pieces in further
// ConfigMaps. The first ConfigMap refers to the pieces and is written last, so that readers see either the old or the
// new record.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { type Purpose, readRecord, recordId, SHARD_BYTES_MAX, SHARDS_MAX, storeRecord } from './home-record.ts';

export interface LongRecord {
  readonly texts: ReadonlyMap<string, string>;
  /** ConfigMaps by number, as far as they were read. Each write updates their resourceVersions here. */
  readonly objects: readonly (KubeObject | undefined)[];
}

export const NO_RECORD: LongRecord = { texts: new Map(), objects: [] };

export type RecordWriter = Pick<Cluster, 'get' | 'create' | 'replace'>;

/** Location of a piece: number of the ConfigMap, and the key in it, which is a digest of the piece. */
type Piece = readonly [number, string];

const PIECE_MAX = 100_000;
/** Bytes that the location of a piece needs in the first ConfigMap. */
const PLACE_BYTES = 48;
/**
 * Annotation that counts writes of pieces. Each increment changes the first ConfigMap. A writer that has read the
 * record before the increment gets a conflict.
 */
const WRITES = 'skep.dev/record-writes';

/**
 * Reads the record. If a piece is missing or was changed by a person, the value is the list of locations instead of the
 * text. Callers detect that such a value is invalid.
 */
export async function readLongRecord(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
  purpose: Purpose,
): Promise<LongRecord> {
  const first = await readRecord(cluster, home, purpose);
  const heads = dataOf(first);
  const shards = new Set([...heads.values()].flatMap(piecesOf).map(([shard]) => shard));
  const objects = [first];
  const read = [...shards].map(async (shard) => {
    objects[shard] = await readRecord(cluster, home, purpose, shard);
  });
  await Promise.all(read);
  const contents = objects.map(dataOf);
  const texts = new Map([...heads].map(([key, head]) => [key, assembleText(head, contents)]));
  const isWhole = [...heads].every(([key, head]) => piecesOf(head).length === 0 || texts.get(key) !== head);
  const latest = isWhole ? first : await readRecord(cluster, home, purpose);
  // A writer removes old pieces after it has written the first ConfigMap. If the first ConfigMap has changed since it
  // was read, read again.
  if (latest?.metadata.resourceVersion !== first?.metadata.resourceVersion)
    return readLongRecord(cluster, home, purpose);
  return { texts, objects };
}

function dataOf(object: KubeObject | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries(isObject(object?.data) ? object.data : {}).map(([key, text]) => [key, String(text)]));
}

const HEAD = '{"pieces":';

function piecesOf(text: string): readonly Piece[] {
  const value = text.startsWith(HEAD) ? parseJson(text) : undefined;
  const pieces = isObject(value) && Array.isArray(value.pieces) ? value.pieces : [];
  return pieces.flatMap((piece): Piece[] => {
    const [shard, name] = Array.isArray(piece) ? piece : [];
    if (typeof shard !== 'number' || typeof name !== 'string') return [];
    return Number.isInteger(shard) && shard > 0 && shard < SHARDS_MAX ? [[shard, name]] : [];
  });
}

function assembleText(head: string, contents: readonly ReadonlyMap<string, string>[]): string {
  const pieces = piecesOf(head);
  if (pieces.length === 0) return head;
  const found = pieces.map((piece) => textOfPiece(piece, contents));
  return found.includes(undefined) ? head : found.join('');
}

/** Returns the piece; undefined if the piece is missing or was changed by a person. */
function textOfPiece([shard, name]: Piece, contents: readonly ReadonlyMap<string, string>[]): string | undefined {
  const text = contents[shard]?.get(name);
  return text === undefined || nameOf(text) !== name ? undefined : text;
}

function nameOf(piece: string): string {
  return sha256(piece).slice(0, 32);
}

/**
 * Replaces the record `before`. Pieces of an interrupted write are overwritten. Throws Failure `record-full`, and
 * `cluster-conflict` if another writer was faster.
 */
export async function storeLongRecord(
  cluster: RecordWriter,
  home: InstanceName,
  purpose: Purpose,
  before: LongRecord,
  texts: ReadonlyMap<string, string>,
): Promise<LongRecord> {
  const keys = keysOfLong(texts);
  const cut = new Map([...texts].filter(([key]) => keys.has(key)).map(([key, text]) => [key, piecesIn(text)]));
  const pieces = new Map([...cut.values()].flat().map((piece) => [nameOf(piece), piece]));
  const { objects, places, contents } = await placePieces(cluster, home, purpose, before, pieces);
  const write = async (shard: number, data: JsonObject, annotations = {}): Promise<void> => {
    const id = recordId(home, purpose, shard);
    objects[shard] = await storeRecord(cluster, id, objects[shard], { data }, annotations);
  };
  if (contents.size > 0) {
    const writes = Number(objects[0]?.metadata.annotations?.[WRITES] ?? 0) + 1;
    await write(0, Object.fromEntries(dataOf(objects[0])), { [WRITES]: String(writes) });
  }
  for (const [shard, data] of contents) await write(shard, data);
  const head = (found: readonly string[]) => found.map(nameOf).map((name) => [places.get(name) ?? 0, name]);
  const heads = [...cut].map(([key, found]): [string, string] => [key, JSON.stringify({ pieces: head(found) })]);
  await write(0, Object.fromEntries(new Map([...texts, ...heads])));
  await emptyUnused(objects, write);
  return { texts, objects };
}

interface PiecePlacement {
  /** All ConfigMaps that were read so far. */
  readonly objects: (KubeObject | undefined)[];
  /** Number of the ConfigMap by name of the piece. */
  readonly places: ReadonlyMap<string, number>;
  /** Contents of the ConfigMaps to write, by number. */
  readonly contents: ReadonlyMap<number, JsonObject>;
}

/** Assigns each piece to a ConfigMap, without writing, so that a full record fails before the first write. */
async function placePieces(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
  purpose: Purpose,
  before: LongRecord,
  pieces: ReadonlyMap<string, string>,
): Promise<PiecePlacement> {
  const objects = [...before.objects];
  const stored = objects.map(dataOf);
  const known = [...dataOf(objects[0]).values()].flatMap(piecesOf);
  const places = new Map(
    known.filter((piece) => textOfPiece(piece, stored) !== undefined).map(([shard, name]) => [name, shard]),
  );
  const contents = new Map<number, JsonObject>();
  for (let shard = 1; [...pieces.keys()].some((name) => !places.has(name)); shard += 1) {
    if (shard === SHARDS_MAX) throw recordFull(purpose);
    objects[shard] ??= await readRecord(cluster, home, purpose, shard);
    const data = fill(objects[shard], shard, pieces, places);
    if (data !== undefined) contents.set(shard, data);
  }
  return { objects, places, contents };
}

/** Empties ConfigMaps without pieces of the new record. Ignores failures, because the new record is already stored. */
async function emptyUnused(
  objects: readonly (KubeObject | undefined)[],
  write: (shard: number, data: JsonObject) => Promise<void>,
): Promise<void> {
  const used = new Set([...dataOf(objects[0]).values()].flatMap(piecesOf).map(([, name]) => name));
  for (const [shard, object] of objects.entries()) {
    const names = [...dataOf(object).keys()];
    if (shard === 0 || names.length === 0 || names.some((name) => used.has(name))) continue;
    try {
      await write(shard, {});
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }
}

/**
 * Returns the new content of a ConfigMap with as many unassigned pieces as possible, and adds these pieces to `places`.
 * Removes pieces that neither the old nor the new record contains. Returns undefined if no piece was added.
 */
function fill(
  object: KubeObject | undefined,
  shard: number,
  pieces: ReadonlyMap<string, string>,
  places: Map<string, number>,
): JsonObject | undefined {
  const kept = [...dataOf(object)].filter(([name]) => places.get(name) === shard);
  let size = kept.reduce((sum, [, text]) => sum + text.length + PLACE_BYTES, 0);
  const added = [...pieces].filter(([name, text]) => {
    const fits = !places.has(name) && size + text.length + PLACE_BYTES <= SHARD_BYTES_MAX;
    if (fits) size += text.length + PLACE_BYTES;
    return fits;
  });
  for (const [name] of added) places.set(name, shard);
  return added.length === 0 ? undefined : Object.fromEntries([...kept, ...added]);
}

/**
 * Returns the keys of the texts to cut: as many of the longest texts as needed, so that all other texts and all
 * locations fit into one ConfigMap.
 */
function keysOfLong(texts: ReadonlyMap<string, string>): ReadonlySet<string> {
  const long = new Set<string>();
  let size = [...texts].reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  for (const [key, text] of [...texts].toSorted(([, a], [, b]) => b.length - a.length)) {
    if (size <= SHARD_BYTES_MAX) break;
    size -= text.length - piecesIn(text).length * PLACE_BYTES;
    long.add(key);
  }
  return long;
}

function piecesIn(text: string): readonly string[] {
  const count = Math.ceil(text.length / PIECE_MAX);
  return Array.from({ length: count }, (_, index) => text.slice(index * PIECE_MAX, (index + 1) * PIECE_MAX));
}

function recordFull(purpose: Purpose): Failure {
  const message = `the record of the ${purpose} is larger than ${SHARDS_MAX} ConfigMaps: raise the limits on deletions for one run, or roll back fewer sources at once`;
  return new Failure('record-full', message);
}
