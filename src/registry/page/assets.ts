// Reads the files of the catalogue page, and inserts the settings into its HTML. The URLs of the files change with
// their content.

import { readdir, readFile } from 'node:fs/promises';
import { sha256 } from '#std/hash.ts';
import { MODULE_EXTENSION, type PageFile, readPageFiles } from '#std/page/files.ts';

export interface PageAssets {
  /** Digest of all files and settings. The URLs contain the digest, so that browsers can cache the files forever. */
  readonly digest: string;
  /** HTML of the page. */
  readonly shell: string;
  readonly files: readonly PageFile[];
}

const FOLDER = new URL('./browser/', import.meta.url);
const DIGEST_LENGTH = 16;

export interface PageSettings {
  /** `oauth`: the page asks the reader for a token before its first request. */
  readonly auth: 'anonymous' | 'oauth';
  /**
   * Which running servers the page shows. `beside`: servers on this machine, which the page can call. `fleet`: servers
   * of a fleet.
   */
  readonly running: 'hidden' | 'beside' | 'fleet';
  /** Title of the page. Default: MCP servers. */
  readonly title?: string;
}

export async function readPageAssets({ auth, running, title = 'MCP servers' }: PageSettings): Promise<PageAssets> {
  const {
    template,
    files,
    digest: content,
  } = await readPageFiles({ readdir, readFile }, FOLDER, ['preact', 'preact/hooks']);
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
