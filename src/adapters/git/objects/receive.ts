// Receives a pack from a server as `git index-pack --fix-thin` does: adds an index, and the missing delta bases from
// other packs. Without these bases, the deltas of several packs could form a cycle, and their objects could not be
// read.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Failure } from '#std/failure.ts';
import { hashInTurns, openBudget, PACK_LIMITS } from './budget.ts';
import { entryHead } from './entry.ts';
import { type ForeignBase, resolveNames } from './names.ts';
import { openObjectStore } from './objects.ts';
import { CHECKSUM_BYTES, type PackedObject, packIndex } from './pack-index.ts';
import { COUNT_AT, HEADER_BYTES, readCount, scanPack } from './scan.ts';

/**
 * Receives a pack into the bare repository `gitdir`. The index is written last, because a pack without an index is
 * ignored. Throws Failure `git-too-large`. Throws Failure `git-damaged` if a base is missing. Throws an Error if the
 * pack cannot be parsed.
 */
export async function receivePack(gitdir: string, pack: Buffer, limits = PACK_LIMITS): Promise<void> {
  const count = readCount(pack);
  if (count === 0) return;
  if (count > limits.objects) throw tooManyObjects(limits.objects);
  const spend = openBudget('the pack from the server', limits.totalBytes);
  const entries = await scanPack(pack, spend);
  const store = openObjectStore(join(gitdir, 'objects'), limits.deltaBytes);
  try {
    const { names, bases } = await resolveNames({ pack, spend, limits }, entries, store);
    const objects = entries.map(({ offset, crc }) => ({ oid: names.get(offset) ?? '', offset, crc }));
    await writePack(gitdir, await withBases({ pack, objects }, bases));
  } finally {
    store.close();
  }
}

interface Whole {
  readonly pack: Buffer;
  readonly objects: readonly PackedObject[];
}

function tooManyObjects(max: number): Failure {
  return new Failure('git-too-large', `the pack from the server has more than ${max} objects`, { data: { max } });
}

/** Writes pack and index. Does not overwrite an existing pack, because other processes may be reading it. */
async function writePack(gitdir: string, { pack, objects }: Whole): Promise<void> {
  const checksum = pack.subarray(-CHECKSUM_BYTES);
  const folder = join(gitdir, 'objects/pack');
  const base = join(folder, `pack-${checksum.toString('hex')}`);
  if (existsSync(`${base}.idx`)) return;
  const index = await packIndex(objects, checksum);
  await mkdir(folder, { recursive: true });
  await replaceFile(`${base}.pack`, pack);
  await replaceFile(`${base}.idx`, index);
}

/** Adds the path to errors of the file system, because the error for a full disk lacks it. */
async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const draft = `${path}.new`;
  try {
    await writeFile(draft, bytes);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  }
}

/** Appends the bases, so that the offsets of the received entries do not change. */
async function withBases(sent: Whole, bases: readonly ForeignBase[]): Promise<Whole> {
  if (bases.length === 0) return sent;
  const header = Buffer.from(sent.pack.subarray(0, HEADER_BYTES));
  header.writeUInt32BE(sent.objects.length + bases.length, COUNT_AT);
  const pieces: Buffer[] = [header, sent.pack.subarray(HEADER_BYTES, -CHECKSUM_BYTES)];
  const objects = [...sent.objects];
  let offset = sent.pack.length - CHECKSUM_BYTES;
  for (const { oid, type, size, deflated } of bases) {
    const head = entryHead(type, size);
    objects.push({ oid, offset, crc: crc32(deflated, crc32(head)) });
    pieces.push(head, deflated);
    offset += head.length + deflated.length;
  }
  return { pack: Buffer.concat([...pieces, await hashInTurns(pieces)]), objects };
}
