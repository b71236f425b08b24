// Parses and builds version 2 of a pack index (gitformat-pack(5)), which contains the offset of each object.

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

export interface PackedObject {
  /** 40 hexadecimal digits. */
  readonly oid: string;
  /** Less than 2 GiB. */
  readonly offset: number;
  /** CRC-32 of the compressed entry, including its header. */
  readonly crc: number;
}

const MAGIC = 0xff744f63;
const VERSION = 2;
const FANOUT_AT = 8;
const OIDS_AT = FANOUT_AT + 256 * 4;
/** Length of the SHA-1 at the end of a pack and of its index. */
export const CHECKSUM_BYTES = 20;

export interface PackIndex {
  find(oid: string): number | undefined;
  /** Returns the end of the entry at `offset`: the offset of the next entry, or `dataEnd` for the last entry. */
  endOf(offset: number, dataEnd: number): number;
  readonly packChecksum: string;
}

/** Throws an Error if the bytes are not an index or are damaged. */
export function readIndex(bytes: Buffer): PackIndex {
  if (bytes.length < OIDS_AT + 2 * CHECKSUM_BYTES || bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(4) !== 2) {
    throw new Error('not a pack index of version 2');
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
    packChecksum: bytes.toString('hex', body.length - CHECKSUM_BYTES, body.length),
  };
}

/** Offsets of 2 GiB or more are in a second table of 64-bit numbers. */
function readOffsets(bytes: Buffer, count: number): Float64Array {
  const smallAt = OIDS_AT + count * (20 + 4);
  const largeAt = smallAt + count * 4;
  return Float64Array.from({ length: count }, (_, row) => {
    const small = bytes.readUInt32BE(smallAt + row * 4);
    return small < 0x80000000 ? small : Number(bytes.readBigUInt64BE(largeAt + (small - 0x80000000) * 8));
  });
}

/** Finds an id by binary search, within the range that the fan-out table gives for its first byte. */
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

/** Builds an index. `objects` may have any order. */
export async function packIndex(objects: readonly PackedObject[], packChecksum: Buffer): Promise<Buffer> {
  const count = objects.length;
  const head = Buffer.alloc(OIDS_AT);
  head.writeUInt32BE(MAGIC, 0);
  head.writeUInt32BE(VERSION, 4);
  const [oids, crcs, offsets] = [Buffer.alloc(count * 20), Buffer.alloc(count * 4), Buffer.alloc(count * 4)];
  let row = 0;
  for (const [first, group] of byFirstByte(objects).entries()) {
    for (const { oid, crc, offset } of group.sort((a, b) => (a.oid < b.oid ? -1 : Number(a.oid > b.oid)))) {
      oids.write(oid, row * 20, 'hex');
      crcs.writeUInt32BE(crc, row * 4);
      offsets.writeUInt32BE(offset, row * 4);
      row += 1;
    }
    head.writeUInt32BE(row, FANOUT_AT + first * 4);
    if (group.length >= LONG_GROUP) await setImmediate();
  }
  const body = Buffer.concat([head, oids, crcs, offsets, packChecksum]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** Number of ids between two yields to the event loop. */
const LONG_GROUP = 100;

function byFirstByte(objects: readonly PackedObject[]): PackedObject[][] {
  const groups: PackedObject[][] = Array.from({ length: 256 }, () => []);
  for (const object of objects) groups[Number.parseInt(object.oid.slice(0, 2), 16)]?.push(object);
  return groups;
}

function sha1(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex');
}
