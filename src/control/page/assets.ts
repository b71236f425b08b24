// The files of the page of the runs, from beside this one, with the commands that it gives its readers.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFile, pageFilesOf } from '../../std/page/files.ts';
import type { Commands } from '../ports.ts';

const FOLDER = new URL('./browser/', import.meta.url);

/** `commandOf`: how its readers type commands of skep. */
export async function readRunsPage(
  commandOf: Commands,
): Promise<{ readonly shell: string; readonly files: readonly PageFile[] }> {
  const names = await readdir(FOLDER);
  const texts = names.map(async (name) => [name, await readFile(new URL(name, FOLDER), 'utf8')] as const);
  const { template, files } = pageFilesOf(new Map(await Promise.all(texts)));
  return { shell: template.replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS'))), files };
}
