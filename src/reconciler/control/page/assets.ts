// The files of the console, with the commands that it gives its readers.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFile, readPageFiles } from '#std/page/files.ts';
import type { CommandOf } from '#std/words/command-of.ts';

const FOLDER = new URL('./browser/', import.meta.url);

const PACKAGES = ['preact', 'preact/hooks', '@dagrejs/dagre'] as const;

/** `commandOf`: how its readers type commands of skep. */
export async function readConsole(
  commandOf: CommandOf,
): Promise<{ readonly shell: string; readonly files: readonly PageFile[] }> {
  const { template, files } = await readPageFiles({ readdir, readFile }, FOLDER, PACKAGES);
  return { shell: template.replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS'))), files };
}
