// Finds the entries of a received pack, which has no index yet, and computes the ids of objects that are not deltas.
// The contents of large objects are not kept.

import { createHash } from 'node:crypto';
import { crc32, createInflate } from 'node:zlib';
import { hashInTurns, type Spend } from './budget.ts';
import { deflatedMax, type EntryHead, inflateFirst, readEntryHead } from './entry.ts';
import { CHECKSUM_BYTES } from './pack-index.ts';

export interface ScannedEntry {
  readonly offset: number;
  readonly end: number;
  readonly crc: number;
  readonly head: EntryHead;
  /** Id of an object that is not a delta: 40 hexadecimal digits. undefined for deltas. */
  readonly oid: string | undefined;
}

export const HEADER_BYTES = 12;
export const COUNT_AT = 8;

/** Objects of at least this size are decompressed in pieces on another thread. */
export const LARGE_BYTES = 1024 * 1024;

/** Returns entries in the order of the pack. Throws if the pack is damaged. */
export async function scanPack(pack: Buffer, spend: Spend): Promise<readonly ScannedEntry[]> {
  const count = readCount(pack);
  const data = pack.subarray(0, -CHECKSUM_BYTES);
  if (!(await hashInTurns([data])).equals(pack.subarray(data.length))) throw new Error('pack with a wrong checksum');
  const entries: ScannedEntry[] = [];
  let offset = HEADER_BYTES;
  while (entries.length < count) {
    const entry = await scanEntry(data, offset, spend);
    entries.push(entry);
    offset = entry.end;
  }
  if (offset !== data.length) throw new Error('pack that goes on after its last object');
  return entries;
}

export function readCount(pack: Buffer): number {
  const isPack = pack.length >= HEADER_BYTES + CHECKSUM_BYTES && pack.toString('latin1', 0, 4) === 'PACK';
  if (!isPack || pack.readUInt32BE(4) !== 2) throw new Error('no pack of version 2');
  return pack.readUInt32BE(COUNT_AT);
}

async function scanEntry(data: Buffer, offset: number, spend: Spend): Promise<ScannedEntry> {
  const bytes = data.subarray(offset);
  const head = readEntryHead(bytes, offset);
  await spend(head.size);
  const { length, oid } = await scanContent(bytes.subarray(head.dataAt), head);
  const end = offset + head.dataAt + length;
  return { offset, end, crc: crc32(data.subarray(offset, end)), head, oid };
}

interface Scanned {
  readonly length: number;
  readonly oid: string | undefined;
}

async function scanContent(stream: Buffer, head: EntryHead): Promise<Scanned> {
  if (head.size >= LARGE_BYTES) return scanLarge(stream, head);
  const { content, length } = inflateFirst(stream, head.size);
  if ('base' in head) return { length, oid: undefined };
  const name = createHash('sha1').update(looseHead(head.type, head.size)).update(content);
  return { length, oid: name.digest('hex') };
}

async function scanLarge(stream: Buffer, { type, size, ...head }: EntryHead): Promise<Scanned> {
  const inflate = createInflate();
  const name = createHash('sha1').update(looseHead(type, size));
  let seen = 0;
  inflate.end(stream.subarray(0, deflatedMax(size)));
  for await (const chunk of inflate) {
    const bytes: Buffer = chunk;
    seen += bytes.length;
    if (seen > size) break;
    name.update(bytes);
  }
  if (seen !== size) throw new Error(`object of other than ${size} announced bytes`);
  return { length: inflate.bytesWritten, oid: 'base' in head ? undefined : name.digest('hex') };
}

/** Returns the header of an object's loose form. The id is the hash of header and content. */
export function looseHead(type: string, size: number): Buffer {
  return Buffer.from(`${type} ${size}\0`);
}
