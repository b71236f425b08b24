// Lists and reads the files of a commit or folder that kustomizations may read.

import type { Checkout } from '../../ports.ts';

export interface TreeFile {
  /** Equal ids mean equal bytes. */
  readonly oid: string;
  readonly bytes: Uint8Array;
}

/**
 * Files by path. Paths are relative to the root of the repository, and have no slash at the start or end. The root is
 * ''.
 */
export interface Tree {
  /** Returns the regular files below a folder, sorted by path. */
  list(folder: string): readonly string[];
  /**
   * Returns the type of the path; undefined if the path does not exist. `link` is a symbolic link or submodule, or a
   * path below a link or submodule.
   */
  find(path: string): 'file' | 'folder' | 'link' | undefined;
  /** Returns the path for messages. */
  show(path: string): string;
  oid(path: string): string;
  /** Returns regular files with their bytes, by path. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, TreeFile>>;
}

export function treeOfCheckout({ files, skipped, read }: Checkout): Tree {
  const oids = new Map(files.map(({ path, oid }) => [path, oid]));
  const links = new Set(skipped.map(({ path }) => path));
  const folders = new Set(files.flatMap(({ path }) => foldersAbove(path)));
  const oid = (path: string): string => oids.get(path) ?? '';
  return {
    list: (folder) => files.map(({ path }) => path).filter((path) => isBelow(path, folder)),
    find(path) {
      if (oids.has(path)) return 'file';
      if (path === '' || folders.has(path)) return 'folder';
      return [path, ...foldersAbove(path)].some((each) => links.has(each)) ? 'link' : undefined;
    },
    show: (path) => path,
    oid,
    async read(paths) {
      const contents = await read([...new Set(paths.map(oid))]);
      return new Map(
        paths.flatMap((path): [string, TreeFile][] => {
          const bytes = contents.get(oid(path));
          return bytes === undefined ? [] : [[path, { oid: oid(path), bytes }]];
        }),
      );
    },
  };
}

/** Returns the folders above a path, without the root. */
export function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}

export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

export function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

export function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Resolves a path relative to a folder. Returns undefined for a path outside of the tree. */
export function resolvePath(folder: string, path: string): string | undefined {
  if (path.startsWith('/')) return undefined;
  const resolved: string[] = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') resolved.push(part);
    else if (resolved.pop() === undefined) return undefined;
  }
  return resolved.join('/');
}
