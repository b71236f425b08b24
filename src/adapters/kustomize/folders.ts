// Creates temporary folders for builds. Each folder is removed after its build. Folders that killed processes left are
// removed later.

import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface BuildFolders {
  /** Creates folders, calls `work`, and removes the folders afterwards. */
  use<T>(work: (place: { readonly tree: string; readonly home: string }) => Promise<T>): Promise<T>;
}

const PREFIX = 'skep-kustomize-';
/** Age in milliseconds after which a folder is not in use by another process. A build takes seconds. */
const IN_USE_MS = 10 * 60_000;

/** Opens the parent folder. Its path is made absolute, because kustomize runs in the folder of its build. */
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

/** Keeps folders of other users, because all users share the temporary folder. */
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
