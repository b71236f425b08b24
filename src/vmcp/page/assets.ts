// The files of the page of a virtual server, from beside this one.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFiles, pageFilesOf } from '../../std/page/files.ts';

const FOLDER = new URL('./browser/', import.meta.url);

export async function readAdminPage(): Promise<PageFiles> {
  const names = await readdir(FOLDER);
  const texts = names.map(async (name) => [name, await readFile(new URL(name, FOLDER), 'utf8')] as const);
  return pageFilesOf(new Map(await Promise.all(texts)));
}
