// The pages as they are built: each is one script that needs nothing else.

import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { compilePage, PAGES } from '../../../scripts/bundle.ts';
import { temporaryFolder } from '../../harness/git-server.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const folder = temporaryFolder();

afterAll(() => folder.remove());

test.each(PAGES)('the script of %s imports nothing', async (page) => {
  await compilePage(page, join(folder.path, page));
  const script = readFileSync(join(folder.path, page, 'main.js'), 'utf8');
  expect(script).toContain('addEventListener');
  expect(script.match(/^import\b.*$/gm)).toBeNull();
});

/** All that a browser loads of a page, before it is compressed. */
const PAGE_BYTES_MAX = 200_000;

test.each(PAGES)('all of %s is small', async (page) => {
  await compilePage(page, join(folder.path, page));
  const [source, shared] = [join(ROOT, 'src', page), join(ROOT, 'src/std/page/shared')];
  const files = [source, shared].flatMap((cwd) =>
    globSync('**/*.{html,css,svg}', { cwd }).map((name) => join(cwd, name)),
  );
  const sizes = [join(folder.path, page, 'main.js'), ...files].map((file) => statSync(file).size);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  process.stderr.write(`${page}: ${bytes} bytes\n`);
  expect(bytes).toBeLessThan(PAGE_BYTES_MAX);
});
