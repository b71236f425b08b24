// No process of ours has V8 compile what a thread of its own may end it with, and none of these tests' processes.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasCompiledWrapper } from './compiled-wrapper.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

async function outputOf(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', fileOf('compiling-process.ts'), ...args]);
  return stdout;
}

test('V8 compiles wrappers of what WebAssembly calls, and not in the program', async () => {
  expect(await outputOf('--eval', '')).toBe('compiled: true\n');
  expect(await outputOf(fileOf('../../src/skep.ts'), '--version')).toMatch(/\ncompiled: false\n$/);
});

test('nor here', () => {
  expect(hasCompiledWrapper()).toBe(false);
});
