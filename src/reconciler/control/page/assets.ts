// Reads the files of the page of the runs from this folder, and fills in the commands for its readers.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFile, readPageFiles } from '#std/page/files.ts';
import type { CommandOf } from '#std/words/command-of.ts';

const FOLDER = new URL('./browser/', import.meta.url);

/** `commandOf`: returns commands of skep as readers type them. */
export async function readRunsPage(
  commandOf: CommandOf,
): Promise<{ readonly shell: string; readonly files: readonly PageFile[] }> {
  const { template, files } = await readPageFiles({ readdir, readFile }, FOLDER);
  return { shell: template.replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS'))), files };
}
