// Makes a pack that was fetched stand alone, as `git index-pack --fix-thin` does: what its deltas build on and other packs
// hold is put into it. Packs whose deltas build on each other's can go round in circles, in which a file that goes to and fro
// between two contents is never read to an end. Knows nothing about where packs come from.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { gitPackage } from '../package.ts';
import { type GitObject, openObjectStore } from './objects.ts';
import { type ObjectType, openPack } from './pack.ts';

const HEADER_BYTES = 12;
const COUNT_AT = 8;
const CHECKSUM_BYTES = 20;

const KINDS: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** As much as can be: a file that no one asks for may be larger than those that are read. */
const BASE_BYTES_MAX = 1024 ** 3;

/**
 * `packfile`: relative to the folder of a bare repository whose other packs stand alone. Throws Failure `git-damaged` or
 * `git-too-large`.
 */
export async function makeWhole(gitdir: string, packfile: string): Promise<void> {
  const file = join(gitdir, packfile);
  const base = file.slice(0, -'.pack'.length);
  const missing = missingBases(base);
  if (missing.length === 0) return;
  const bases = readBases(gitdir, missing);
  const bytes = withObjects(await readFile(file), bases);
  const name = `objects/pack/pack-${bytes.toString('hex', bytes.length - CHECKSUM_BYTES)}.pack`;
  await writeFile(join(gitdir, name), bytes);
  await gitPackage().indexPack({ fs, dir: gitdir, gitdir, filepath: name });
  await rm(`${base}.idx`);
  await rm(file);
}

function missingBases(base: string): readonly string[] {
  const pack = openPack(base);
  try {
    return pack.missingBases();
  } finally {
    pack.close();
  }
}

function readBases(gitdir: string, oids: readonly string[]): readonly GitObject[] {
  const store = openObjectStore(join(gitdir, 'objects'), BASE_BYTES_MAX);
  try {
    // Whoever reads what builds on one that is not there finds the damage.
    return oids.flatMap((oid) => store.read(oid) ?? []);
  } finally {
    store.close();
  }
}

/** In front: distances inside of the pack stay what they are, and whoever reads it in order knows each base before its delta. */
function withObjects(pack: Buffer, objects: readonly GitObject[]): Buffer {
  const header = Buffer.from(pack.subarray(0, HEADER_BYTES));
  header.writeUInt32BE(header.readUInt32BE(COUNT_AT) + objects.length, COUNT_AT);
  const body = Buffer.concat([
    header,
    ...objects.flatMap(({ type, content }) => [entryHeader(KINDS[type], content.length), deflateSync(content)]),
    pack.subarray(HEADER_BYTES, -CHECKSUM_BYTES),
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** gitformat-pack(5): three bits of kind and four of size in the first byte, then seven bits of size a byte. */
function entryHeader(kind: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (kind << 4) | (size & 0x0f);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}
