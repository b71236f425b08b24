// Where files of the repository are.

import { fileURLToPath } from 'node:url';

/** `path`: from the root of the repository. */
export function repoPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
