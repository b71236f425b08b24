// The pages as they are built: each is one script that needs nothing else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compilePage, PAGES } from '../../../scripts/bundle.ts';
import { temporaryFolder } from '../../harness/git-server.ts';

const folder = temporaryFolder();

afterAll(() => folder.remove());

test.each(PAGES)('the script of %s imports nothing', async (page) => {
  await compilePage(page, join(folder.path, page));
  const script = readFileSync(join(folder.path, page, 'main.js'), 'utf8');
  expect(script).toContain('addEventListener');
  expect(script.match(/^import\b.*$/gm)).toBeNull();
});
