// Tells that something may have changed below paths of this machine. Each folder is watched by itself, and what is watched
// is found anew at each call: a file that an editor replaces, a folder that comes or goes, is nothing special then.

import { type FSWatcher, readdirSync, type Stats, statSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isManifest } from '#reconciler/run/read/source-file.ts';
import { Failure } from '#std/failure.ts';

/**
 * Calls `changed` at each sign, until what it returns is called. Of a path that is not there, the nearest folder above it is
 * watched. Throws Failure `watch-failed`.
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
      // The folder went away: whoever is notified looks for folders again.
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
  // The folder above, too: a file that is saved by renaming is another file, and so is a folder, or where a link leads.
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

/** Manifests, folders that come or go, and what was asked for by name; not what editors leave beside them. */
function matters(path: string, folders: ReadonlySet<string>, asked: readonly string[]): boolean {
  if (asked.some((each) => each === path || each.startsWith(`${path}/`))) return true;
  if (!asked.some((each) => path.startsWith(each === '/' ? each : `${each}/`))) return false;
  if (isManifest(path) || folders.has(path)) return true;
  return stats(path)?.isDirectory() === true && !path.endsWith('.git');
}

/** Undefined where nothing can be said of it: it is gone, or a link that leads to itself. */
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
