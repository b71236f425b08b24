// Reports possible changes below paths of this machine. Each call of `watchFolders` lists the folders again and watches
// each folder separately. So replaced files, new folders and deleted folders need no special handling.

import { type FSWatcher, readdirSync, type Stats, statSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isManifest } from '#reconciler/run/read/source-file.ts';
import { Failure } from '#std/failure.ts';

/**
 * Calls `changed` for each possible change. The returned function ends the watch. For a missing path, watches its
 * nearest existing parent. Throws Failure `watch-failed`.
 */
export function watchFolders(paths: readonly string[], changed: () => void): () => void {
  const asked = paths.map((path) => resolve(path));
  const watchers: FSWatcher[] = [];
  function close(): void {
    for (const watcher of watchers) watcher.close();
  }
  try {
    const folders = new Set(asked.flatMap(foldersOf));
    for (const folder of folders) {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || matters(join(folder, name), folders, asked)) changed();
      });
      // The folder was deleted. The caller lists the folders again.
      watcher.on('error', changed);
      watchers.push(watcher);
    }
  } catch (error) {
    close();
    if (isMissing(error)) return watchFolders(paths, changed);
    throw new Failure('watch-failed', error instanceof Error ? error.message : String(error), { cause: error });
  }
  return close;
}

function foldersOf(path: string): readonly string[] {
  const found = stats(path);
  const above = foldersAbove(path);
  // The parent folder is watched too, because a file or folder may be replaced, and a link may change.
  return found?.isDirectory() === true ? [...listFolders(path), ...above] : above;
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path || stats(parent)?.isDirectory() === true ? [parent] : foldersAbove(parent);
}

function listFolders(folder: string): string[] {
  try {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const inner = folders.filter(({ name }) => name !== '.git').flatMap(({ name }) => listFolders(join(folder, name)));
    return [folder, ...inner];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Returns true for manifests, for folders, and for the given paths. Changes of other files, such as temporary files of
 * editors, are ignored.
 */
function matters(path: string, folders: ReadonlySet<string>, asked: readonly string[]): boolean {
  if (asked.some((each) => each === path || each.startsWith(`${path}/`))) return true;
  if (!asked.some((each) => path.startsWith(each === '/' ? each : `${each}/`))) return false;
  if (isManifest(path) || folders.has(path)) return true;
  return stats(path)?.isDirectory() === true && !path.endsWith('.git');
}

/** Returns the facts about a path; undefined if it does not exist or cannot be read. */
function stats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
