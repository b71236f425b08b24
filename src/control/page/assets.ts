// The files of the page of the runs as they are served, read once from beside this one: modules are JavaScript where the
// program was built, and TypeScript, whose types are taken away on the way out, where it runs from source.

import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import type { Commands } from '../ports.ts';

export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

const FOLDER = new URL('./browser/', import.meta.url);
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const TYPES: Readonly<Record<string, string>> = {
  [EXTENSION]: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

/** `commandOf`: how its readers type commands of skep. */
export async function readRunsPage(
  commandOf: Commands,
): Promise<{ readonly shell: string; readonly files: readonly Asset[] }> {
  const names = await readdir(FOLDER);
  const files = await Promise.all(
    names.map(async (name): Promise<Asset[]> => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined) return [];
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return [{ name, type, text: name.endsWith('.ts') ? stripTypeScriptTypes(text) : text }];
    }),
  );
  const template = await readFile(new URL('index.html', FOLDER), 'utf8');
  const shell = template
    .replaceAll('%EXTENSION%', EXTENSION)
    .replaceAll('%COMMAND%', () => encodeURIComponent(commandOf('WORDS')));
  return { shell, files: files.flat() };
}
