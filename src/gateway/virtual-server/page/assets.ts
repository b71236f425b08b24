// Loads the files of the page of a virtual server from its folder.

import { readdir, readFile } from 'node:fs/promises';
import { type PageFiles, readPageFiles } from '#std/page/files.ts';

const FOLDER = new URL('./browser/', import.meta.url);

export function readAdminPage(): Promise<PageFiles> {
  return readPageFiles({ readdir, readFile }, FOLDER);
}
