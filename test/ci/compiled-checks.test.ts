// The checks of configuration files that the installed program has compiled already: they say what those of the sources say,
// and bring no compiler.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { readRunConfig } from '#contracts/run-config-read.ts';
import { compile } from '../../scripts/bundle.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// Below the checkout, so that packages are found.
let folder: string;
let compiled: typeof import('#contracts/run-config-read.ts');
let registry: typeof import('#contracts/registry/config-read.ts');

beforeAll(async () => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.compiled-checks-'));
  await compile(join(ROOT, 'src/contracts/run-config-read.ts'), folder);
  await compile(join(ROOT, 'src/contracts/registry/config-read.ts'), folder);
  compiled = await import(pathToFileURL(join(folder, 'run-config-read.js')).href);
  registry = await import(pathToFileURL(join(folder, 'config-read.js')).href);
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

test.each([
  { reason: 'nothing is wrong', text: 'registryName: all\nregistries: []\n' },
  { reason: 'a field is unknown', text: 'registryName: all\nregistres: []\n' },
  { reason: 'a field is missing', text: 'registries: []\n' },
  { reason: 'a value is of another type', text: 'registryName: all\nregistries: {}\n' },
  { reason: 'a value is none of a list', text: 'registryName: all\nregistries: []\nauth: {mode: sesame}\n' },
])('of registries say the same where $reason', ({ text }) => {
  expect(registry.readRegistryConfig(text, 'registry.yaml')).toEqual(readRegistryConfig(text, 'registry.yaml'));
});

test.each(['run-config-read.js', 'config-read.js'])('bring no compiler: %s', (file) => {
  expect(readFileSync(join(folder, file), 'utf8')).not.toContain('new Ajv(');
});
