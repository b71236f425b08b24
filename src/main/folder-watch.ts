// Tells that something may have changed below paths of this machine. Each folder is watched by itself, and what is watched is
// found anew at each call: a file that an editor replaces, a folder that comes or goes, is nothing special then. Knows
// nothing about what is in the files.

import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { isManifest } from '../reconcile/source-file.ts';
import { Failure } from '../std/failure.ts';

/**
 * Calls `changed` at each sign, until what it returns is called. Of a path that is not there, the nearest folder above it is
 * watched. Throws Failure `watch-failed`.
 */
export function watchFolders(paths: readonly string[], changed: () => void): () => void {
  const folders = new Set(paths.flatMap(foldersOf));
  const watchers: FSWatcher[] = [];
  function close(): void {
    for (const watcher of watchers) watcher.close();
  }
  try {
    for (const folder of folders) {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || matters(join(folder, name), folders, paths)) changed();
      });
      // The folder went away: whoever is told looks for folders again.
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
  const found = statSync(path, { throwIfNoEntry: false });
  // The folder of a file, too: saving by renaming makes it another file.
  if (found === undefined) return dirname(path) === path ? [path] : foldersAbove(path);
  return found.isDirectory() ? below(path) : [dirname(path)];
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path);
  return statSync(parent, { throwIfNoEntry: false })?.isDirectory() === true || parent === path
    ? [parent]
    : foldersAbove(parent);
}

function below(folder: string): string[] {
  try {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const inner = folders.filter(({ name }) => name !== '.git').flatMap(({ name }) => below(join(folder, name)));
    return [folder, ...inner];
  } catch (error) {
    if (isMissing(error)) return [];
    throw new Failure('watch-failed', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Manifests, folders that come or go, and what was asked for by name; not what editors leave beside them. */
function matters(path: string, folders: ReadonlySet<string>, paths: readonly string[]): boolean {
  if (isManifest(path) || folders.has(path)) return true;
  if (paths.some((each) => join(each) === path || join(each).startsWith(`${path}/`))) return true;
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && !path.endsWith('.git');
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
