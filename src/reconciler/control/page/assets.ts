// The files of the console, with the commands and the address of a catalogue that it shows its readers.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFile, readPageFiles } from '#std/page/files.ts';
import type { CommandOf } from '#std/words/command-of.ts';

const FOLDER = new URL('./browser/', import.meta.url);

const PACKAGES = ['preact', 'preact/hooks', '@dagrejs/dagre'] as const;

export interface ConsoleWords {
  /** How its readers type commands of skep. */
  readonly commandOf: CommandOf;
  /** Where the same listener has the page of a catalogue; absent: it has none. */
  readonly catalogue?: string;
}

export async function readConsole({
  commandOf,
  catalogue = '',
}: ConsoleWords): Promise<{ readonly shell: string; readonly files: readonly PageFile[] }> {
  const { template, files } = await readPageFiles({ readdir, readFile }, FOLDER, PACKAGES);
  const shell = template
    .replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS')))
    .replaceAll('%CATALOGUE%', catalogue);
  return { shell, files };
}
