// Which generated files a pull request has forgotten.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { generatedProblems, readGenerated, untrackedGenerated } from './compare.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'skep-generated-'));
afterAll(() => rmSync(ROOT, { recursive: true }));

const COMMIT_THEM = 'These files are now as the code says: commit them.';

test('a page that was edited by hand is not a generated file', () => {
  mkdirSync(join(ROOT, 'docs/kinds'), { recursive: true });
  execFileSync('git', ['init', '-q', ROOT]);
  writeFileSync(join(ROOT, 'docs/errors.md'), 'a');
  writeFileSync(join(ROOT, 'docs/kinds/mcpserver.md'), 'a');
  execFileSync('git', ['-C', ROOT, 'add', '.']);
  const before = readGenerated(ROOT);
  writeFileSync(join(ROOT, 'docs/ci.md'), 'edited');
  expect(generatedProblems(before, readGenerated(ROOT), untrackedGenerated(ROOT))).toEqual([]);
});

test('a file that generating changes was out of date', () => {
  const before = readGenerated(ROOT);
  writeFileSync(join(ROOT, 'docs/errors.md'), 'b');
  expect(generatedProblems(before, readGenerated(ROOT), [])).toEqual(['docs/errors.md was out of date', COMMIT_THEM]);
});

test('a file that Git does not know is told, the first time and the second', () => {
  const before = readGenerated(ROOT);
  writeFileSync(join(ROOT, 'docs/kinds/mcpgroup.md'), 'new');
  const after = readGenerated(ROOT);
  const untracked = untrackedGenerated(ROOT);
  expect(generatedProblems(before, after, untracked)).toEqual(['docs/kinds/mcpgroup.md was missing', COMMIT_THEM]);
  expect(generatedProblems(after, after, untracked)).toEqual(['docs/kinds/mcpgroup.md is not in Git', COMMIT_THEM]);
});

test('a file that is no longer generated has to be deleted', () => {
  const old = new Map([['docs/kinds/old.md', 'a']]);
  expect(generatedProblems(old, new Map(), [])).toEqual(['docs/kinds/old.md is no longer generated', COMMIT_THEM]);
});
