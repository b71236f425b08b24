// The checks of configuration files that the installed program has compiled already: they say what those of the sources say,
// and bring no compiler.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../scripts/bundle.ts';
import { readRunConfig } from '../../src/contracts/run-config-read.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// Below the checkout, so that packages are found.
let folder: string;
let compiled: typeof import('../../src/contracts/run-config-read.ts');

beforeAll(async () => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.compiled-checks-'));
  await compile(join(ROOT, 'src/contracts/run-config-read.ts'), folder);
  compiled = await import(pathToFileURL(join(folder, 'run-config-read.js')).href);
});
afterAll(() => rmSync(folder, { recursive: true }));

const CONFIG = {
  schema_version: 'v0.1.0',
  name: 'weather',
  namespace: 'agents',
  transport: 'streamable-http',
  proxy_mode: 'streamable-http',
  host: '127.0.0.1',
  port: 8080,
  trust_proxy_headers: false,
  audit_config: { enabled: false, component: 'weather' },
};

test.each([
  { reason: 'nothing is wrong', change: {} },
  { reason: 'a port is out of range', change: { port: 70_000 } },
  { reason: 'a value is none of a list', change: { transport: 'carrier-pigeon' } },
  { reason: 'a key is missing', change: { name: undefined } },
  { reason: 'a text is empty', change: { name: '' } },
  { reason: 'an unknown key is left out', change: { later: true } },
])('say the same where $reason', ({ change }) => {
  const text = JSON.stringify({ ...CONFIG, ...change });
  expect(compiled.readRunConfig(text)).toEqual(readRunConfig(text));
});

test('bring no compiler', () => {
  expect(readFileSync(join(folder, 'run-config-read.js'), 'utf8')).not.toContain('new Ajv(');
});
