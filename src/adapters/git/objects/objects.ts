// Reads Git objects by id from a repository's packs and loose files, and verifies each object by its id.

import { createHash, hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { Failure } from '#std/failure.ts';
import { isOid } from '../reference.ts';
import { applyDelta, sizeMade, TOO_LARGE } from './delta.ts';
import type { ObjectType } from './entry.ts';
import { openPack, type Pack } from './pack.ts';

export interface GitObject {
  readonly type: ObjectType;
  readonly content: Buffer;
}

export interface ObjectStore {
  /**
   * Returns the object. undefined if the repository lacks it. Throws Failure `git-damaged` if it is damaged,
   * `git-too-large` if it exceeds `maxObjectBytes`.
   */
  read(oid: string): GitObject | undefined;
  /** Rejects with Failure `git-damaged` if a pack does not match its index. */
  verify(): Promise<void>;
  packs(): number;
  /** Returns the total bytes of all objects built so far, including delta bases. */
  made(): number;
  close(): void;
}

/** Maximum length of a chain of deltas. Git's own limit is 4095 (`pack.depth`), so a longer chain must be a loop. */
export const MAX_CHAIN = 4096;
/** Maximum size of a delta base. It may exceed `maxObjectBytes`, because most servers accept files of up to 100 MiB. */
const BASE_BYTES_MAX = 128 * 1024 * 1024;
/**
 * Maximum size of decoded objects in memory. The objects are kept because the next objects are often deltas on them.
 */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Opens the repository's folder `objects`. Throws Failure `git-damaged`. */
export function openObjectStore(objects: string, maxObjectBytes: number): ObjectStore {
  const folders = withAlternates(objects);
  const packs: Pack[] = [];
  const close = () => {
    for (const pack of packs.splice(0)) pack.close();
  };
  try {
    for (const base of folders.flatMap(packBases)) packs.push(openPack(base));
  } catch (cause) {
    close();
    throw corrupt(objects, 'a pack cannot be opened', cause);
  }
  const context: ObjectReading = { folders, packs, maxObjectBytes, kept: new Map(), keptBytes: 0, madeBytes: 0 };
  return {
    read: (oid) => guarded(objects, oid, maxObjectBytes, () => readStoredObject(context, oid)),
    verify: async () => {
      try {
        for (const pack of packs) await pack.verify();
      } catch (cause) {
        throw corrupt(objects, 'a pack is damaged', cause);
      }
    },
    packs: () => packs.length,
    made: () => context.madeBytes,
    close,
  };
}

interface ObjectReading {
  readonly folders: readonly string[];
  readonly packs: readonly Pack[];
  readonly maxObjectBytes: number;
  /** Decoded objects by pack and offset. Their ids are not verified. */
  readonly kept: Map<Pack, Map<number, GitObject>>;
  keptBytes: number;
  madeBytes: number;
}

function readStoredObject(context: ObjectReading, oid: string): GitObject | undefined {
  const object = findPacked(context, oid, 0);
  if (object === undefined) return readLoose(context, oid);
  const { type, content } = object;
  // The object may have been built as a delta base, for which a higher limit applies.
  checkMade(content.length, context.maxObjectBytes);
  assertName(oid, createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex'));
  return object;
}

/** The id of an object is the hash of its loose form. */
function assertName(oid: string, name: string): void {
  if (name !== oid) throw new Error(`the content has the name ${name}`);
}

function findPacked(context: ObjectReading, oid: string, depth: number): GitObject | undefined {
  for (const pack of context.packs) {
    const offset = pack.find(oid);
    if (offset !== undefined) return readPacked(context, pack, offset, depth);
  }
  return undefined;
}

/** Follows deltas to an object that is not a delta, then applies them in reverse order. */
function readPacked(context: ObjectReading, pack: Pack, start: number, startDepth: number): GitObject {
  const chain: { readonly offset: number; readonly delta: Buffer }[] = [];
  const baseBytes = Math.max(context.maxObjectBytes, BASE_BYTES_MAX);
  let offset = start;
  let object = context.kept.get(pack)?.get(offset);
  while (object === undefined) {
    if (startDepth + chain.length > MAX_CHAIN) throw new Error('deltas without end');
    const isAsked = startDepth + chain.length === 0;
    const stored = pack.entry(offset, isAsked ? context.maxObjectBytes : baseBytes);
    if (isAsked && 'base' in stored) checkMade(sizeMade(stored.bytes), context.maxObjectBytes);
    if (stored.type === 'offset-delta') {
      chain.push({ offset, delta: stored.bytes });
      offset = stored.base;
      object = context.kept.get(pack)?.get(offset);
    } else if (stored.type === 'oid-delta') {
      chain.push({ offset, delta: stored.bytes });
      const { base } = stored;
      object = findPacked(context, base, startDepth + chain.length) ?? readLoose(context, base);
      if (object === undefined) throw new Error(`the base ${base} of a delta is missing`);
    } else {
      object = { type: stored.type, content: stored.bytes };
      cacheObject(context, pack, offset, object);
    }
  }
  for (const { offset: place, delta } of chain.reverse()) {
    object = { type: object.type, content: applyDelta(object.content, delta, baseBytes) };
    cacheObject(context, pack, place, object);
  }
  return object;
}

function checkMade(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw Object.assign(new Error(`object of ${bytes} bytes`), { code: TOO_LARGE });
}

function cacheObject(context: ObjectReading, pack: Pack, offset: number, object: GitObject): void {
  context.madeBytes += object.content.length;
  context.keptBytes += object.content.length;
  if (context.keptBytes > MAX_KEPT_BYTES) {
    context.kept.clear();
    context.keptBytes = object.content.length;
  }
  const ofPack = context.kept.get(pack) ?? new Map<number, GitObject>();
  context.kept.set(pack, ofPack.set(offset, object));
}

/** A loose file is a zlib stream of `<type> <size>`, a zero byte and the content (gitrepository-layout(5)). */
function readLoose({ folders, maxObjectBytes }: ObjectReading, oid: string): GitObject | undefined {
  if (!isOid(oid)) return undefined;
  const compressed = firstFile(folders.map((folder) => `${folder}/${oid.slice(0, 2)}/${oid.slice(2)}`));
  if (compressed === undefined) return undefined;
  // The default size would allocate 16 KiB for each small object.
  const chunkSize = Math.min(65_536, Math.max(256, compressed.length * 4));
  const bytes = inflateSync(compressed, { maxOutputLength: maxObjectBytes + 64, chunkSize });
  const headerEnd = bytes.indexOf(0);
  const [type = '', size = ''] = bytes.toString('latin1', 0, headerEnd).split(' ');
  const content = bytes.subarray(headerEnd + 1);
  if (headerEnd < 0 || !isObjectType(type) || Number(size) !== content.length)
    throw new Error('no header of an object');
  assertName(oid, hash('sha1', bytes));
  return { type, content };
}

function isObjectType(type: string): type is ObjectType {
  return type === 'commit' || type === 'tree' || type === 'blob' || type === 'tag';
}

function firstFile(paths: readonly string[]): Buffer | undefined {
  for (const path of paths) {
    const bytes = fileOrNothing(path);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

function fileOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function packBases(objects: string): string[] {
  return listing(join(objects, 'pack'))
    .filter((name) => name.endsWith('.idx'))
    .map((name) => join(objects, 'pack', name.slice(0, -'.idx'.length)));
}

function listing(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Returns the folder and its alternates. A repository may use objects of other repositories
 * (`objects/info/alternates`), up to five levels deep as in Git.
 */
function withAlternates(objects: string, depth = 0): string[] {
  const text = depth > 5 ? undefined : fileOrNothing(join(objects, 'info', 'alternates'))?.toString('utf8');
  const lines = (text ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const borrowed = lines.map((line) => (isAbsolute(line) ? line : join(objects, line)));
  return [...new Set([objects, ...borrowed.flatMap((folder) => withAlternates(folder, depth + 1))])];
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function guarded<T>(objects: string, oid: string, maxBytes: number, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === TOO_LARGE || code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Failure('git-too-large', `object ${oid} is larger than ${maxBytes} bytes`, {
        data: { oid, maxBytes },
        cause,
      });
    }
    throw corrupt(objects, `object ${oid} cannot be read`, cause);
  }
}

function corrupt(objects: string, what: string, cause: unknown): Failure {
  return new Failure('git-damaged', `${objects}: ${what}`, { data: { objects }, cause, retryable: true });
}
