// The files of the catalogue page as they are served. Reads them once, from beside itself: modules are JavaScript where
// the program was built, and TypeScript, whose types are taken away on the way out, where it runs from source.

import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../std/hash.ts';

export interface Asset {
  /** Below the folder of the page, such as `running/view.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: () => string;
}

export interface PageAssets {
  /** Of all files: part of their addresses, so that each may be kept for ever. */
  readonly digest: string;
  /** The page itself. */
  readonly shell: string;
  readonly files: readonly Asset[];
}

const FOLDER = new URL('./browser/', import.meta.url);
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const DIGEST_LENGTH = 16;

const TYPES: Readonly<Record<string, string>> = {
  [EXTENSION]: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

export interface PageSettings {
  /** Whether to ask for a token before it asks for anything else. */
  readonly auth: 'anonymous' | 'oauth';
  /** Whether it asks for servers that run: those beside the catalogue on this machine, which it can call, or those of a fleet. */
  readonly running: 'hidden' | 'beside' | 'fleet';
  /** What it is called; absent: MCP servers. */
  readonly title?: string;
}

export async function readPageAssets({ auth, running, title = 'MCP servers' }: PageSettings): Promise<PageAssets> {
  const found = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const names = found
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => relative(fileURLToPath(FOLDER), join(parentPath, name)))
    .sort();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8')));
  const digest = sha256(JSON.stringify([auth, running, title, ...texts])).slice(0, DIGEST_LENGTH);
  const files = names.flatMap((name, index): Asset[] => {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    const type = TYPES[extension];
    const text = texts[index] ?? '';
    if (type === undefined) return [];
    return [{ name, type, body: extension === 'ts' ? () => stripTypeScriptTypes(text) : () => text }];
  });
  const template = texts[names.indexOf('index.html')] ?? '';
  const modules = files.filter(({ name }) => name.endsWith(`.${EXTENSION}`));
  const shell = template
    .replaceAll(
      '%PRELOADS%',
      modules.map(({ name }) => `<link rel="modulepreload" href="page/%DIGEST%/${name}">`).join('\n'),
    )
    .replaceAll('%AUTH%', auth)
    .replaceAll('%RUNNING%', running)
    .replaceAll('%EXTENSION%', EXTENSION)
    .replaceAll('%DIGEST%', digest)
    .replaceAll('%TITLE%', () => escapeMarkup(title));
  return { digest, shell, files };
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
