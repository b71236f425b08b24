// Parses commits, tags and trees: resolves an id to a commit, and lists the files of a commit.

import { Failure } from '#std/failure.ts';
import { isOid } from '../reference.ts';
import { headersOf } from '../signatures/signed.ts';
import type { GitObject, ObjectStore } from './objects.ts';

export interface CommitFiles {
  readonly files: readonly { readonly path: string; readonly oid: string }[];
  readonly skipped: readonly { readonly path: string; readonly reason: 'symlink' | 'submodule' }[];
}

/** Follows annotated tags to a commit and returns its id. Throws Failure `git-ref-not-found` for trees and files. */
export function peelToCommit(store: ObjectStore, oid: string): string {
  let current = oid;
  for (let depth = 0; depth < 10; depth += 1) {
    const object = requireObject(store, current);
    if (object.type === 'commit') return current;
    if (object.type !== 'tag') {
      throw new Failure('git-ref-not-found', `${oid} is a ${object.type}, not a commit`, { data: { oid } });
    }
    current = headerOid(object, current, 'object');
  }
  throw new Failure('git-ref-not-found', `${oid} is a tag of tags without end`, { data: { oid } });
}

/**
 * Lists the files of a commit at or below a path, sorted by path. An empty path lists all files. Throws Failure
 * `git-path-not-found`. Throws Failure `git-damaged` if a tree is missing or damaged.
 */
export function listFiles(store: ObjectStore, commit: string, path: string): CommitFiles {
  const root = headerOid(requireObject(store, commit), commit, 'tree');
  const found = descend(store, root, path);
  if (typeof found === 'string') {
    throw new Failure('git-path-not-found', `commit ${commit} has no "${path}"${found}`, { data: { commit, path } });
  }
  const listing: Collected = { files: [], skipped: [], visited: 0 };
  collectEntries(store, found, path, listing);
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  return { files: listing.files.sort(byPath), skipped: listing.skipped.sort(byPath) };
}

/** Returns the ids of up to `count` commits before a commit, nearest first. A shallow clone may have fewer. */
export function ancestorsOf(store: ObjectStore, commit: string, count: number): string[] {
  const found = new Set<string>();
  let generation = [commit];
  while (generation.length > 0 && found.size < count) {
    const parents = generation.flatMap((oid) => parentsOf(store, oid)).filter((oid) => !found.has(oid));
    generation = [...new Set(parents)];
    for (const oid of generation) found.add(oid);
  }
  return [...found].slice(0, count);
}

export function parentsOf(store: ObjectStore, oid: string): string[] {
  const object = store.read(oid);
  return object?.type === 'commit' ? headersOf(object.content, 'parent').filter(isOid) : [];
}

type EntryMode = 'folder' | 'file' | 'symlink' | 'submodule';

interface TreeEntry {
  readonly sort: EntryMode;
  readonly name: string;
  readonly oid: string;
}

interface Collected {
  readonly files: { path: string; oid: string }[];
  readonly skipped: { path: string; reason: 'symlink' | 'submodule' }[];
  visited: number;
}

/**
 * Maximum number of files and folders. No repository of manifests has more, but a few trees with repeated entries could
 * describe billions of paths.
 */
const MAX_ENTRIES = 500_000;

function collectEntries(store: ObjectStore, entry: Omit<TreeEntry, 'name'>, path: string, listing: Collected): void {
  listing.visited += 1;
  if (listing.visited > MAX_ENTRIES) {
    throw new Failure('git-too-large', `the commit has more than ${MAX_ENTRIES} files and folders`);
  }
  switch (entry.sort) {
    case 'folder':
      for (const child of readTree(store, entry.oid)) {
        collectEntries(store, child, joined(path, child.name), listing);
      }
      return;
    case 'file':
      listing.files.push({ path, oid: entry.oid });
      return;
    case 'symlink':
    case 'submodule':
      listing.skipped.push({ path, reason: entry.sort });
  }
}

/** Linux's limit for paths (`PATH_MAX`). It also limits the depth of folders. */
const PATH_LENGTH_MAX = 4096;

function joined(path: string, name: string): string {
  const whole = path === '' ? name : `${path}/${name}`;
  if (whole.length > PATH_LENGTH_MAX) {
    throw new Failure('git-too-large', `the commit has a path of more than ${PATH_LENGTH_MAX} characters`);
  }
  return whole;
}

/** Returns the entry at the path. If the path does not exist, returns the end of an error message. */
function descend(store: ObjectStore, root: string, path: string): Omit<TreeEntry, 'name'> | string {
  let entry: Omit<TreeEntry, 'name'> & { readonly name?: string } = { sort: 'folder', oid: root };
  for (const name of path === '' ? [] : path.split('/')) {
    if (entry.sort !== 'folder') return notFollowed(entry);
    const child = readTree(store, entry.oid).find((candidate) => candidate.name === name);
    if (child === undefined) return '';
    entry = child;
  }
  return entry.sort === 'folder' || entry.sort === 'file' ? entry : notFollowed(entry);
}

function notFollowed({ sort, name = '' }: Omit<TreeEntry, 'name'> & { readonly name?: string }): string {
  return sort === 'file' ? `: "${name}" is a file` : `: "${name}" is a ${sort}, which is not followed`;
}

/** Parses a tree. Each entry is `<octal mode> <name>`, a zero byte and the 20 bytes of the object id. */
function readTree(store: ObjectStore, oid: string): TreeEntry[] {
  const { content } = requireObject(store, oid);
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + 20 >= content.length + 1) throw damaged(oid, 'tree');
    const mode = Number.parseInt(content.toString('latin1', at, space), 8);
    const name = content.toString('utf8', space + 1, end);
    entries.push({ sort: sortOf(mode), name, oid: content.toString('hex', end + 1, end + 21) });
    at = end + 21;
  }
  return entries;
}

/** Returns the type by the file type bits of the mode, as in stat(2). Git uses 0160000 for submodules. */
function sortOf(mode: number): EntryMode {
  switch (mode & 0o170000) {
    case 0o040000:
      return 'folder';
    case 0o120000:
      return 'symlink';
    case 0o160000:
      return 'submodule';
    default:
      return 'file';
  }
}

/** Reads the id in the first line: `tree <oid>` of a commit, `object <oid>` of a tag. */
function headerOid({ content }: GitObject, oid: string, field: 'tree' | 'object'): string {
  const start = field.length + 1;
  const value = content.toString('latin1', start, start + 40);
  if (content.toString('latin1', 0, start) !== `${field} ` || !isOid(value)) throw damaged(oid, 'object');
  return value;
}

function requireObject(store: ObjectStore, oid: string): GitObject {
  const object = store.read(oid);
  if (object !== undefined) return object;
  throw new Failure('git-damaged', `object ${oid} is missing`, { data: { oid }, retryable: true });
}

function damaged(oid: string, what: string): Failure {
  return new Failure('git-damaged', `${what} ${oid} is damaged`, { data: { oid }, retryable: true });
}
