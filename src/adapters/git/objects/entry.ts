// Parses one entry of a pack (gitformat-pack(5)): its header and its content.

import { inflateSync } from 'node:zlib';
import { TOO_LARGE } from './delta.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export type EntryHead = {
  /** Uncompressed size of the stored data, which may be a delta. */
  readonly size: number;
  /** Offset of the zlib stream from the start of the entry. */
  readonly dataAt: number;
} & (
  | { readonly type: ObjectType }
  /** A delta. `base` is the offset of its base in this pack. */
  | { readonly type: 'offset-delta'; readonly base: number }
  /** A delta. `base` is the object id of its base in any pack. */
  | { readonly type: 'oid-delta'; readonly base: string }
);

/** A parsed entry with its uncompressed data. */
export type Stored = EntryHead & { readonly bytes: Buffer };

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const NUMBERS: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };
const OFFSET_DELTA = 6;
const OID_DELTA = 7;
const OID_BYTES = 20;

/** Maximum number of 7-bit digits in a size or distance. A larger number exceeds the exact integers of JavaScript. */
const DIGITS_MAX = 8;

/**
 * Parses the header at the start of the bytes. `offset` is the position of the entry in its pack. Throws if the bytes
 * are not an entry.
 */
export function readEntryHead(bytes: Buffer, offset: number): EntryHead {
  const { kind, size, at } = readKindAndSize(bytes);
  const type = TYPES[kind];
  if (type !== undefined) return { type, size, dataAt: at };
  if (kind === OID_DELTA) {
    const base = bytes.toString('hex', at, at + OID_BYTES);
    return { type: 'oid-delta', size, dataAt: at + OID_BYTES, base };
  }
  if (kind !== OFFSET_DELTA) throw new Error(`pack entry of unknown kind ${kind}`);
  const distance = readDistance(bytes, at);
  if (distance.value <= 0 || distance.value > offset) throw new Error('delta against a place outside of the pack');
  return { type: 'offset-delta', size, dataAt: distance.end, base: offset - distance.value };
}

/** Parses the whole entry. Throws if it is damaged or exceeds `maxBytes`. */
export function readStored(bytes: Buffer, offset: number, maxBytes: number): Stored {
  const head = readEntryHead(bytes, offset);
  const { size, dataAt } = head;
  if (size > maxBytes) throw Object.assign(new Error(`object of ${size} bytes`), { code: TOO_LARGE });
  return { ...head, bytes: inflated(bytes.subarray(dataAt), size) };
}

/** Returns the header of an object that is not a delta. Its zlib stream follows the header. */
export function entryHead(type: ObjectType, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (NUMBERS[type] << 4) | (size & 0x0f);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}

/** The first byte has three bits of type and four bits of size. Each further byte has seven bits of size. */
function readKindAndSize(bytes: Buffer): { kind: number; size: number; at: number } {
  let byte = bytes.readUInt8(0);
  const kind = (byte >> 4) & 0x07;
  let size = byte & 0x0f;
  let at = 1;
  for (let scale = 16; byte >= 0x80; scale *= 128, at += 1) {
    if (at === DIGITS_MAX) throw new Error('size without end');
    byte = bytes.readUInt8(at);
    size += (byte & 0x7f) * scale;
  }
  return { kind, size, at };
}

/**
 * Reads seven bits per byte, most significant first. Adds one for each further byte, so that each distance has only one
 * encoding.
 */
function readDistance(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start;
  let byte = bytes.readUInt8(at);
  let value = byte & 0x7f;
  while (byte >= 0x80) {
    at += 1;
    if (at - start === DIGITS_MAX) throw new Error('distance without end');
    byte = bytes.readUInt8(at);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

function inflated(bytes: Buffer, size: number): Buffer {
  return inflateFirst(bytes, size).content;
}

/**
 * Decompresses the zlib stream at the start of the bytes. Ignores later bytes. `length` is the length of the stream.
 * Throws unless the content has `size` bytes.
 */
export function inflateFirst(bytes: Buffer, size: number): { readonly content: Buffer; readonly length: number } {
  const maxOutputLength = Math.max(1, size);
  const { buffer: content, engine } = inflateUpTo(bytes.subarray(0, deflatedMax(size)), maxOutputLength);
  if (content.length !== size) throw new Error(`object of ${content.length} bytes where ${size} were announced`);
  return { content, length: engine.bytesWritten };
}

/**
 * Returns the maximum length of a compressed form that is accepted. Compressors produce less, but hostile data could
 * contain any number of empty blocks.
 */
export function deflatedMax(size: number): number {
  return 2 * size + 1024;
}

/**
 * Decompresses up to a limit. A stream with more data than announced is damaged, so the error is not `git-too-large`.
 */
function inflateUpTo(bytes: Buffer, maxOutputLength: number): Inflated {
  const chunkSize = Math.max(64, maxOutputLength);
  try {
    // The types of Node.js do not include the result with `info`.
    const answer: unknown = inflateSync(bytes, { maxOutputLength, chunkSize, info: true });
    return answer as Inflated;
  } catch (cause) {
    throw new Error('damaged zlib stream', { cause });
  }
}

interface Inflated {
  readonly buffer: Buffer;
  /** `bytesWritten`: number of compressed bytes. */
  readonly engine: { readonly bytesWritten: number };
}
