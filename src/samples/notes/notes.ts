// Stores notes in a folder, one Markdown file per note.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Pattern of titles. A matching title has no characters with a special meaning in file names. */
export const TITLE = '^[\\p{L}\\p{N}](?:[\\p{L}\\p{N} _-]{0,78}[\\p{L}\\p{N}])?$';

const SUFFIX = '.md';
const TITLE_PATTERN = new RegExp(TITLE, 'u');

export interface Notes {
  /** Returns the sorted titles. */
  readonly titles: () => Promise<readonly string[]>;
  readonly read: (title: string) => Promise<string | undefined>;
  readonly write: (title: string, text: string) => Promise<void>;
  readonly delete: (title: string) => Promise<void>;
}

export function notesIn(folder: string): Notes {
  const fileOf = (title: string) => join(folder, `${title}${SUFFIX}`);
  return {
    titles: async () => {
      const names = await readdir(folder).catch(absent);
      const titles = (names ?? []).filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
      return titles.filter((title) => TITLE_PATTERN.test(title)).sort();
    },
    read: async (title) => (TITLE_PATTERN.test(title) ? readFile(fileOf(title), 'utf8').catch(absent) : undefined),
    write: async (title, text) => {
      await mkdir(folder, { recursive: true });
      await writeFile(fileOf(title), text);
    },
    delete: (title) => rm(fileOf(title)),
  };
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
