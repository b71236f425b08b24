// Returns paths of files in the repository.

import { fileURLToPath } from 'node:url';

/** `path` is relative to the root of the repository. */
export function repoPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
