// Reads a folder of this machine and the files around it to which its kustomizations may refer.

import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { foldersAbove, pathIn, type Tree, type TreeFile } from '#reconciler/run/read/kustomize/tree.ts';
import { sha256 } from '#std/hash.ts';

export interface FolderTree {
  readonly tree: Tree;
  /** Path of the opened folder in the tree. */
  readonly folder: string;
}

/**
 * Opens a tree whose root is the Git work tree around the folder. Outside of a work tree, the root is the current
 * directory if it contains the folder, and otherwise the folder itself.
 */
export function openFolderTree(folder: string, currentDirectory: string): FolderTree {
  const place = realpathSync(folder);
  const root =
    repositoryAbove(place) ??
    (isWithin(place, realpathSync(currentDirectory)) ? realpathSync(currentDirectory) : place);
  const inside = relative(root, place).split(sep).join('/');
  const contents = new Map<string, TreeFile>();
  function readOne(path: string): TreeFile {
    const known = contents.get(path);
    if (known !== undefined) return known;
    const bytes = readFileSync(join(root, path));
    const file = { oid: sha256(bytes), bytes };
    contents.set(path, file);
    return file;
  }
  const tree: Tree = {
    list: (below) => listFiles(root, below),
    find(path) {
      if ([...foldersAbove(path), path].some((each) => kindAt(join(root, each)) === 'link')) return 'link';
      return kindAt(join(root, path));
    },
    show(path) {
      const shown = join(folder, relative(place, join(root, path)));
      return isAbsolute(folder) ? join(root, path) : shown;
    },
    oid: (path) => readOne(path).oid,
    read: async (paths) => new Map(paths.map((path) => [path, readOne(path)])),
  };
  return { tree, folder: inside };
}

/** Returns the folder itself or the nearest folder above it that is a work tree of a Git repository. */
export function repositoryAbove(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : repositoryAbove(above);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function kindAt(path: string): ReturnType<Tree['find']> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) return 'link';
  if (found?.isFile() === true) return 'file';
  return found?.isDirectory() === true ? 'folder' : undefined;
}

/** Lists regular files, without the folder `.git`. */
function listFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = pathIn(folder, entry.name);
      if (entry.isDirectory()) return entry.name === '.git' ? [] : listFiles(root, path);
      return entry.isFile() ? [path] : [];
    });
}
