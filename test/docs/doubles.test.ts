// The doubles of tests, as docs/testing.md lists them: each exists, and names the test that holds it against the real system or
// says why there is none. A helper with a listener that is not listed is found here.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { ROOT } from './pages.ts';

const SECTION = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8').split('\n## Doubles\n')[1]?.split('\n## ')[0] ?? '';
const ROWS = SECTION.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const NAMED = [...SECTION.matchAll(/`((?:test|src)\/[^`]+)`/g)].map(([, path = '']) => path);
const LISTENS = new Set(['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls']);

it('every file of the list exists', () => {
  expect(NAMED.length).toBeGreaterThan(20);
  expect(NAMED.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('each double names a test, or says why it has none', () => {
  const unheld = ROWS.filter(([, , , held = '']) => !held.includes('.test.ts`') && !/^none: .{20,}/.test(held));
  expect(unheld.map(([, file]) => file)).toEqual([]);
});

it('each helper that opens a listener is in the list', () => {
  const helpers = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `test/${path}`);
  expect(helpers.filter((path) => opensListener(path) && !NAMED.includes(path))).toEqual([]);
});

function opensListener(path: string): boolean {
  const { module } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'));
  return module.staticImports.some(
    ({ moduleRequest, entries }) =>
      LISTENS.has(moduleRequest.value) &&
      entries.some(({ importName }) => /^create(Secure)?Server$/.test(importName.name ?? '')),
  );
}
