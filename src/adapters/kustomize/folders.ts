// Creates temporary folders of builds. Each folder is removed after its build, and folders of killed processes are
// removed later.

import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface BuildFolders {
  /** Creates a folder that exists as long as the work. */
  use<T>(work: (place: { readonly tree: string; readonly home: string }) => Promise<T>): Promise<T>;
}

const PREFIX = 'skep-kustomize-';
/** A build takes seconds. Other processes may have builds under way. */
const IN_USE_MS = 10 * 60_000;

/**
 * Resolves the path, because kustomize is started in the folder of its build, where a relative path would name another
 * folder.
 */
export function openBuildFolders(path: string, now: () => number): BuildFolders {
  const temporary = resolve(path);
  let removing: Promise<void> | undefined;
  return {
    async use(work) {
      await mkdir(temporary, { recursive: true, mode: 0o700 });
      removing ??= removeLeftFolders(temporary, now());
      await removing;
      const folder = await mkdtemp(join(temporary, PREFIX));
      try {
        const [tree, home] = [join(folder, 'tree'), join(folder, 'home')];
        await mkdir(tree);
        await mkdir(home);
        return await work({ tree, home });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Folders of other users stay, because all users share the temporary folder. */
async function removeLeftFolders(temporary: string, now: number): Promise<void> {
  for (const name of await readdir(temporary)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(temporary, name);
    const found = await lstat(folder).catch(undefinedIfAbsent);
    const isOwn = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOwn && now - found.mtimeMs > IN_USE_MS) await rm(folder, { recursive: true, force: true });
  }
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
