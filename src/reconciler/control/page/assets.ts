// Reads the files of the console, and puts the commands and the address of the catalogue into its page.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFile, readPageFiles } from '#std/page/files.ts';
import type { CommandOf } from '#std/words/command-of.ts';

const FOLDER = new URL('./browser/', import.meta.url);

const PACKAGES = ['preact', 'preact/hooks', '@dagrejs/dagre'] as const;

export interface ConsoleWords {
  /** Returns commands of skep as readers type them. */
  readonly commandOf: CommandOf;
  /** URL of the catalogue's page on the same listener; absent if there is no catalogue. */
  readonly catalogue?: string;
  /** Host on which people log in; absent if nobody can. */
  readonly login?: string;
}

export async function readConsole({
  commandOf,
  catalogue = '',
  login = '',
}: ConsoleWords): Promise<{ readonly shell: string; readonly files: readonly PageFile[] }> {
  const { template, files } = await readPageFiles({ readdir, readFile }, FOLDER, PACKAGES);
  const shell = template
    .replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS')))
    .replaceAll('%CATALOGUE%', catalogue)
    .replaceAll('%LOGIN%', login);
  return { shell, files };
}
