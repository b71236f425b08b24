// The installed program gets node:http without the HTTP client that an import of it as a module loads beside it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../scripts/bundle.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LISTENER = join(ROOT, 'src/gateway/proxy/listener.ts');
// Below the checkout, so that packages are found.
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.plain-http-'));
  await compile(LISTENER, folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether a process that imports the module has loaded the client of Node.js. */
function loadsClient(module: string): boolean {
  const loaded = `process.moduleLoadList.some((name) => name.includes('internal/deps/undici/undici'))`;
  const program = `await import(${JSON.stringify(module)}); console.log(${loaded});`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
}

test('what is compiled does not load it', () => {
  expect(loadsClient(join(folder, 'listener.js'))).toBe(false);
});

test('Node.js does, or there would be no need for this', () => {
  expect(loadsClient('node:http')).toBe(true);
});
