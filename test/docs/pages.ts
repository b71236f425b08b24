// Every Markdown page of the project, read.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Page, readPage } from './markdown.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.skep']);

export const PAGES: readonly Page[] = markdownBelow(ROOT)
  .map((path) => readPage(relative(ROOT, path), readFileSync(path, 'utf8')))
  .toSorted((a, b) => (a.path < b.path ? -1 : 1));

function markdownBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : markdownBelow(path);
    return entry.isFile() && entry.name.endsWith('.md') ? [path] : [];
  });
}
