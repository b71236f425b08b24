// One pack file with its index, version 2 (gitformat-pack(5)): where an object is, and its bytes. Knows nothing about
// other packs, and nothing about what objects mean.

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { TOO_LARGE } from './delta.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** What is stored at one place of a pack. */
type Stored =
  | { readonly type: ObjectType; readonly bytes: Buffer }
  /** A delta against the object at another place of the same pack. */
  | { readonly type: 'offset-delta'; readonly bytes: Buffer; readonly base: number }
  /** A delta against an object that may be anywhere. */
  | { readonly type: 'oid-delta'; readonly bytes: Buffer; readonly base: string };

export interface Pack {
  /** Where the object starts, or undefined. */
  find(oid: string): number | undefined;
  /** Reads one entry. Throws where the pack is damaged, or where the entry is larger than `maxBytes`. */
  entry(offset: number, maxBytes: number): Stored;
  /** What deltas build on that this pack does not hold, each once. */
  missingBases(): readonly string[];
  /** Rejects unless the whole file has the checksum that its index names. */
  verify(): Promise<void>;
  close(): void;
}

const MAGIC = 0xff744f63;
const FANOUT_AT = 8;
const OIDS_AT = FANOUT_AT + 256 * 4;
const CHECKSUM_BYTES = 20;

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };

/** Opens `<base>.idx` and `<base>.pack`; throws an Error where the index is damaged or one of them is missing. */
export function openPack(base: string): Pack {
  const index = readIndex(readFileSync(`${base}.idx`));
  const file = openSync(`${base}.pack`, 'r');
  const dataEnd = fstatSync(file).size - CHECKSUM_BYTES;
  return {
    find: index.find,
    entry: (offset, maxBytes) => readPackEntry(slice(file, offset, index.endOf(offset, dataEnd)), offset, maxBytes),
    missingBases: () => {
      const bases = index.starts.flatMap((offset) => baseOf(file, offset, index.endOf(offset, dataEnd)) ?? []);
      return [...new Set(bases)].filter((oid) => index.find(oid) === undefined);
    },
    verify: () => verifyPack(`${base}.pack`, dataEnd, index.packChecksum),
    close: () => closeSync(file),
  };
}

interface Index {
  find(oid: string): number | undefined;
  /** Where the entry that starts here ends: at the next one's start, or at the end of the data. */
  endOf(offset: number, dataEnd: number): number;
  /** Where entries start, ascending. */
  readonly starts: readonly number[];
  readonly packChecksum: string;
}

function readIndex(bytes: Buffer): Index {
  if (bytes.length < OIDS_AT + 2 * CHECKSUM_BYTES || bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(4) !== 2) {
    throw new Error('no pack index of version 2');
  }
  const body = bytes.subarray(0, -CHECKSUM_BYTES);
  if (sha1(body) !== bytes.toString('hex', body.length)) throw new Error('pack index with a wrong checksum');
  const count = bytes.readUInt32BE(FANOUT_AT + 255 * 4);
  const offsets = readOffsets(bytes, count);
  const starts = offsets.toSorted();
  return {
    find: (oid) => {
      const row = findRow(bytes, Buffer.from(oid, 'hex'));
      return row === undefined ? undefined : offsets[row];
    },
    endOf: (offset, dataEnd) => starts[rankOf(starts, offset) + 1] ?? dataEnd,
    starts: [...starts],
    packChecksum: bytes.toString('hex', body.length - CHECKSUM_BYTES, body.length),
  };
}

/** Offsets from 2 GiB on are in a table of 64-bit numbers behind the others. */
function readOffsets(bytes: Buffer, count: number): Float64Array {
  const smallAt = OIDS_AT + count * (20 + 4);
  const largeAt = smallAt + count * 4;
  return Float64Array.from({ length: count }, (_, row) => {
    const small = bytes.readUInt32BE(smallAt + row * 4);
    return small < 0x80000000 ? small : Number(bytes.readBigUInt64BE(largeAt + (small - 0x80000000) * 8));
  });
}

/** The fan-out table tells for each first byte how many names are up to it; between two of them a binary search. */
function findRow(bytes: Buffer, oid: Buffer): number | undefined {
  const first = oid[0] ?? 0;
  let low = first === 0 ? 0 : bytes.readUInt32BE(FANOUT_AT + (first - 1) * 4);
  let high = bytes.readUInt32BE(FANOUT_AT + first * 4);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = OIDS_AT + middle * 20;
    const order = bytes.compare(oid, 0, 20, at, at + 20);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

function rankOf(starts: Float64Array, offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function slice(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  let filled = 0;
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, start + filled);
    if (read === 0) throw new Error('pack ends early');
    filled += read;
  }
  return bytes;
}

function readPackEntry(bytes: Buffer, offset: number, maxBytes: number): Stored {
  const { kind, size, at } = readEntryHeader(bytes);
  if (size > maxBytes) throw Object.assign(new Error(`object of ${size} bytes`), { code: TOO_LARGE });
  const type = TYPES[kind];
  if (type !== undefined) return { type, bytes: inflated(bytes.subarray(at), size) };
  if (kind === 7) {
    const base = bytes.toString('hex', at, at + 20);
    return { type: 'oid-delta', bytes: inflated(bytes.subarray(at + 20), size), base };
  }
  if (kind !== 6) throw new Error(`pack entry of unknown kind ${kind}`);
  const distance = readDistance(bytes, at);
  if (distance.value <= 0 || distance.value > offset) throw new Error('delta against a place outside of the pack');
  return { type: 'offset-delta', bytes: inflated(bytes.subarray(distance.end), size), base: offset - distance.value };
}

/** Ten bytes of size at most, and a name. */
const ENTRY_HEAD_BYTES = 10 + 20;

/** The name of the object that the entry is a delta against; undefined where it is none, or says so by a distance. */
function baseOf(file: number, offset: number, end: number): string | undefined {
  const head = slice(file, offset, Math.min(end, offset + ENTRY_HEAD_BYTES));
  const { kind, at } = readEntryHeader(head);
  return kind === 7 ? head.toString('hex', at, at + 20) : undefined;
}

/** Three bits of kind and four of size in the first byte, then seven bits of size a byte. */
function readEntryHeader(bytes: Buffer): { kind: number; size: number; at: number } {
  let byte = bytes.readUInt8(0);
  const kind = (byte >> 4) & 0x07;
  let size = byte & 0x0f;
  let at = 1;
  for (let scale = 16; byte >= 0x80; scale *= 128, at += 1) {
    byte = bytes.readUInt8(at);
    size += (byte & 0x7f) * scale;
  }
  return { kind, size, at };
}

/** Seven bits a byte, highest first, where each further byte adds one: no distance has two encodings. */
function readDistance(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start;
  let byte = bytes.readUInt8(at);
  let value = byte & 0x7f;
  while (byte >= 0x80) {
    at += 1;
    byte = bytes.readUInt8(at);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

function inflated(bytes: Buffer, size: number): Buffer {
  const content = inflatedUpTo(bytes, Math.max(1, size));
  if (content.length !== size) throw new Error(`object of ${content.length} bytes where ${size} were announced`);
  return content;
}

/** A stream that holds more than announced is damaged, which is not the same as too large for the caller. */
function inflatedUpTo(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength, chunkSize: Math.min(65_536, Math.max(64, maxOutputLength)) });
  } catch (cause) {
    throw new Error('damaged zlib stream', { cause });
  }
}

async function verifyPack(file: string, dataEnd: number, checksum: string): Promise<void> {
  const hash = createHash('sha1');
  let trailer = Buffer.alloc(0);
  let seen = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    const bytes: Buffer = chunk;
    hash.update(bytes.subarray(0, Math.max(0, dataEnd - seen)));
    if (seen + bytes.length > dataEnd) trailer = Buffer.concat([trailer, bytes.subarray(Math.max(0, dataEnd - seen))]);
    seen += bytes.length;
  }
  const found = hash.digest('hex');
  if (found !== checksum || trailer.toString('hex') !== checksum) throw new Error('pack with a wrong checksum');
}

function sha1(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex');
}
