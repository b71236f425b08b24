// The files of the catalogue page as they are served, from beside this one, under addresses that change with them.

import { readdir, readFile } from 'node:fs/promises';
import { sha256 } from '#std/hash.ts';
import { MODULE_EXTENSION, type PageFile, readPageFiles } from '#std/page/files.ts';

export interface PageAssets {
  /** Of all files: part of their addresses, so that each may be kept for ever. */
  readonly digest: string;
  /** The page itself. */
  readonly shell: string;
  readonly files: readonly PageFile[];
}

const FOLDER = new URL('./browser/', import.meta.url);
const DIGEST_LENGTH = 16;

export interface PageSettings {
  /** Whether to ask for a token before it asks for anything else. */
  readonly auth: 'anonymous' | 'oauth';
  /** Whether it asks for servers that run: those beside the catalogue on this machine, which it can call, or those of a fleet. */
  readonly running: 'hidden' | 'beside' | 'fleet';
  /** What it is called; absent: MCP servers. */
  readonly title?: string;
}

export async function readPageAssets({ auth, running, title = 'MCP servers' }: PageSettings): Promise<PageAssets> {
  const { template, files, digest: content } = await readPageFiles({ readdir, readFile }, FOLDER);
  const digest = sha256(JSON.stringify([auth, running, title, content])).slice(0, DIGEST_LENGTH);
  const modules = files.filter(({ name }) => name.endsWith(`.${MODULE_EXTENSION}`));
  const shell = template
    .replaceAll(
      '%PRELOADS%',
      modules.map(({ name }) => `<link rel="modulepreload" href="page/%DIGEST%/${name}">`).join('\n'),
    )
    .replaceAll('%AUTH%', auth)
    .replaceAll('%RUNNING%', running)
    .replaceAll('%DIGEST%', digest)
    .replaceAll('%TITLE%', () => escapeMarkup(title));
  return { digest, shell, files };
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
