// Finds folders of `src` that hold more files than a reader can survey.

import { dirname } from 'node:path';

const FILES_MAX = 30;

/** `paths`: of files, below `src`. One sentence for each folder that is too full. */
export function crowdedFolders(paths: readonly string[]): readonly string[] {
  return [...Map.groupBy(paths, (path) => dirname(path))]
    .filter(([, inside]) => inside.length > FILES_MAX)
    .map(([folder, { length }]) => {
      return `src/${folder} holds ${length} files, and ${FILES_MAX} is the limit: move files of one purpose into a folder of their own, or a test into test/${folder}`;
    });
}
