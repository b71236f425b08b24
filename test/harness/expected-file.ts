// Compares a text with a file of the repository. `UPDATE_EXPECTED=1` writes the file.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export function expectFile(path: string, actual: string): void {
  if (process.env.UPDATE_EXPECTED !== undefined) writeFileSync(path, actual);
  const name = relative(ROOT, path);
  if (!existsSync(path)) expect.fail(`${name} does not exist: run the test with UPDATE_EXPECTED=1, and read the file`);
  expect(actual, `${name} differs: if the new text is right, run the test with UPDATE_EXPECTED=1`).toBe(
    readFileSync(path, 'utf8'),
  );
}
