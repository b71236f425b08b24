// Reads entries of a pack file with an index of version 2 (gitformat-pack(5)).

import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { readStored, type Stored } from './entry.ts';
import { CHECKSUM_BYTES, readIndex } from './pack-index.ts';

export interface Pack {
  /** Returns the offset of the object. undefined if the pack lacks it. */
  find(oid: string): number | undefined;
  /** Reads the entry at `offset`. Throws if the pack is damaged or the entry exceeds `maxBytes`. */
  entry(offset: number, maxBytes: number): Stored;
  /** Rejects if the checksum of the whole file differs from the checksum in its index. */
  verify(): Promise<void>;
  close(): void;
}

/** Opens `<base>.idx` and `<base>.pack`. Throws an Error if a file is missing or the index is damaged. */
export function openPack(base: string): Pack {
  const index = readIndex(readFileSync(`${base}.idx`));
  const file = openSync(`${base}.pack`, 'r');
  const dataEnd = fstatSync(file).size - CHECKSUM_BYTES;
  return {
    find: index.find,
    entry: (offset, maxBytes) => readStored(slice(file, offset, index.endOf(offset, dataEnd)), offset, maxBytes),
    verify: () => verifyPack(`${base}.pack`, dataEnd, index.packChecksum),
    close: () => closeSync(file),
  };
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
