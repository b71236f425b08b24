// A record of texts by key that may be larger than one object: what does not fit into its first ConfigMap is cut into
// pieces, which are in further ones. The first is written last, so that a record is as it was or as it shall be.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import { type Purpose, readRecord, recordId, SHARD_BYTES_MAX, SHARDS_MAX, storeRecord } from './home-record.ts';

export interface LongRecord {
  readonly texts: ReadonlyMap<string, string>;
  /** By number of the shard, as far as they were read; whoever writes afterwards moves their resourceVersion. */
  readonly objects: readonly (KubeObject | undefined)[];
}

export const NO_RECORD: LongRecord = { texts: new Map(), objects: [] };

export type RecordWriter = Pick<Cluster, 'get' | 'create' | 'replace'>;

/** Where a piece is: the number of its shard, and its key there, which is a digest of the piece. */
type Piece = readonly [number, string];

const PIECE_MAX = 100_000;
/** What the place of a piece takes in the first ConfigMap. */
const PLACE_BYTES = 48;
/** Counts the writes of pieces: whoever has read the first ConfigMap before one began cannot write any more. */
const WRITES = 'skep.dev/record-writes';

/** A text of which a piece is missing, or was changed by hand, is read as the list of its pieces: as no text of anybody's. */
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
  // Pieces go once the first ConfigMap does not name them any more.
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

/** Undefined where it is lost, or was changed by hand. */
function textOfPiece([shard, name]: Piece, contents: readonly ReadonlyMap<string, string>[]): string | undefined {
  const text = contents[shard]?.get(name);
  return text === undefined || nameOf(text) !== name ? undefined : text;
}

function nameOf(piece: string): string {
  return sha256(piece).slice(0, 32);
}

/**
 * In place of what was read. Throws Failure `record-full`, and `cluster-conflict` where someone wrote in the meantime. What a
 * write that was cut off has left is written over.
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

interface Placed {
  /** With those that were read besides. */
  readonly objects: (KubeObject | undefined)[];
  /** By name of a piece, the number of its shard. */
  readonly places: ReadonlyMap<string, number>;
  /** Of the shards that are to be written. */
  readonly contents: ReadonlyMap<number, JsonObject>;
}

/** Only reads: what is full is known before anything is written. */
async function placePieces(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
  purpose: Purpose,
  before: LongRecord,
  pieces: ReadonlyMap<string, string>,
): Promise<Placed> {
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

/** The record is stored by then, whatever becomes of what the one before has left. */
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
 * What the shard holds with as many of the pieces that have no place as there is room for, and gives them their places. What
 * neither the record as it was nor as it shall be has goes. Undefined where nothing is added.
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

/** The longest, until the others fit into one object. */
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
