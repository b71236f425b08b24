// Reads a repository in a local folder in place. The repository may be bare or have a work tree.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { readBlobs } from './objects/blobs.ts';
import { openObjectStore } from './objects/objects.ts';
import { ancestorsOf, listFiles, peelToCommit } from './objects/tree.ts';
import { openRecent } from './recent.ts';
import {
  type CommitReference,
  commitReference,
  isOid,
  type NameReference,
  type Reference,
  TAG_PREFIX,
  tagOf,
} from './reference.ts';
import type { ReadTrust } from './signatures/verify.ts';
import { isFileError } from './state.ts';

export interface LocalOptions {
  readonly folder: string;
  readonly reference: Reference;
  readonly path: string;
  readonly trust: ReadTrust;
  readonly limits: { readonly maxObjectBytes: number };
}

/**
 * Folders of a repository (gitrepository-layout(5)). A linked work tree has its own HEAD. All other files are in the
 * main repository.
 */
export interface Layout {
  readonly own: string;
  readonly common: string;
}

export function openLocal({ folder, reference: followed, path, limits, trust: readTrust }: LocalOptions): Repository {
  const recent = openRecent<Checkout>();
  const bring = async (reference: Reference): Promise<Checkout> => {
    const layout = await findLayout(folder);
    await checkFormat(layout.common);
    const { tip, named } = await locate(layout, reference);
    const trust = await readTrust();
    const objects = join(layout.common, 'objects');
    const store = openObjectStore(objects, limits.maxObjectBytes);
    try {
      if (reference.type === 'commit' && store.read(tip) === undefined) {
        throw new Failure('git-ref-not-found', reference.absent);
      }
      const commit = peelToCommit(store, tip);
      const key = [named.type, tip, trust.digest].join(' ');
      const known = recent.get(key);
      if (known !== undefined) return known;
      await trust.check(store, { reference: named, tip, commit });
      const read = (oids: readonly string[]) => readAgain(() => readBlobs(objects, limits.maxObjectBytes, oids));
      const checkout = { commit, ...listFiles(store, commit, path), read };
      recent.set(key, checkout);
      return checkout;
    } finally {
      store.close();
    }
  };
  return {
    fetch: () => readAgain(() => bring(followed)),
    at: (commit) => readAgain(() => bring(commitReference(commit))),
    ancestors: (commit, count) =>
      readAgain(async () => {
        const { common } = await findLayout(folder);
        const store = openObjectStore(join(common, 'objects'), limits.maxObjectBytes);
        try {
          return ancestorsOf(store, commit, count);
        } finally {
          store.close();
        }
      }),
  };
}

/** Resolves the reference. Throws Failure `git-ref-not-found`. */
async function locate(
  layout: Layout,
  reference: Reference,
): Promise<{ readonly tip: string; readonly named: NameReference | CommitReference }> {
  if (reference.type === 'commit') return { tip: reference.oid, named: reference };
  const named = reference.type === 'range' ? tagOf(reference, await tagsOf(layout)) : reference;
  const tip = await resolveRef(layout, named.name);
  if (tip === undefined) throw new Failure('git-ref-not-found', named.absent);
  return { tip, named };
}

/** Returns the full names of all tags, from ref files and `packed-refs`. */
async function tagsOf({ common }: Layout): Promise<string[]> {
  const loose = await readdir(join(common, TAG_PREFIX), { recursive: true }).catch(nothingWhereMissing);
  const packed = ((await readIfThere(join(common, 'packed-refs'))) ?? '').split('\n').map((line) => line.slice(41));
  return [...(loose ?? []).map((name) => TAG_PREFIX + name), ...packed];
}

/**
 * Runs again after a `git-damaged` failure, because a `git gc` by the owner may have moved objects between listing the
 * packs and reading them.
 */
export async function readAgain<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isFileError(error)) throw unreadableRepository(error);
    if (!(error instanceof Failure) || error.code !== 'git-damaged') throw error;
    return await run();
  }
}

export async function findLayout(folder: string): Promise<Layout> {
  for (const candidate of [join(folder, '.git'), folder]) {
    const found = await stat(candidate).catch(nothingWhereMissing);
    const own = found?.isFile() ? await linkedFolder(candidate) : candidate;
    if (own === undefined) continue;
    const commonText = await readIfThere(join(own, 'commondir'));
    const common = commonText === undefined ? own : resolve(own, commonText.trim());
    if (
      (await readIfThere(join(own, 'HEAD'))) !== undefined &&
      (await stat(join(common, 'objects')).catch(nothingWhereMissing))
    ) {
      return { own, common };
    }
  }
  throw new Failure('git-not-a-repository', 'the folder holds no Git repository');
}

/** Reads the file `.git` of a linked work tree or a submodule, which contains `gitdir: <path>`. */
async function linkedFolder(file: string): Promise<string | undefined> {
  const text = (await readIfThere(file)) ?? '';
  return text.startsWith('gitdir: ') ? resolve(file, '..', text.slice('gitdir: '.length).trim()) : undefined;
}

export async function checkFormat(gitdir: string): Promise<void> {
  const config = ((await readIfThere(join(gitdir, 'config'))) ?? '')
    .toLowerCase()
    .split('\n')
    .map((line) => line.replaceAll(/\s/g, ''));
  if (config.includes('objectformat=sha256') || config.includes('refstorage=reftable')) {
    throw new Failure('git-unsupported-repository', 'only SHA-1 object names and refs in files are read');
  }
}

/** Reads a ref's file or its line in `packed-refs`, and follows symbolic refs (`ref: <name>`). */
export async function resolveRef(layout: Layout, name: string, depth = 0): Promise<string | undefined> {
  const folder = name === 'HEAD' ? layout.own : layout.common;
  const text = (await readIfThere(join(folder, name)))?.trim();
  if (text === undefined) return packedRef(layout.common, name);
  if (isOid(text)) return text;
  const target = text.startsWith('ref: ') ? text.slice('ref: '.length).trim() : undefined;
  return target === undefined || depth > 5 ? undefined : resolveRef(layout, target, depth + 1);
}

async function packedRef(gitdir: string, name: string): Promise<string | undefined> {
  const lines = ((await readIfThere(join(gitdir, 'packed-refs'))) ?? '').split('\n');
  return lines.find((line) => line.slice(41) === name && isOid(line.slice(0, 40)))?.slice(0, 40);
}

async function readIfThere(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(nothingWhereMissing);
}

function nothingWhereMissing(error: unknown): undefined {
  if (isFileError(error) && ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')) return undefined;
  throw error;
}

function unreadableRepository(cause: NodeJS.ErrnoException & { path: string }): Failure {
  return new Failure('git-unreachable', `${cause.path}: ${cause.code}`, { data: { path: cause.path }, cause });
}
