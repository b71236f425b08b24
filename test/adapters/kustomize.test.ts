// The process that builds kustomizations gets a copy of files and no environment, has limits, and leaves nothing behind.

import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createKustomize, type KustomizeOptions } from '#adapters/kustomize/build.ts';
import type { KustomizeBuilder } from '#reconciler/run/ports.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { hasKustomize } from '../harness/kustomize.ts';

const folder = temporaryFolder();
let temporary = '';
let count = 0;

beforeEach(() => {
  count += 1;
  temporary = join(folder.path, `temporary-${count}`);
});

afterAll(() => folder.remove());

/** A program in place of kustomize, written in JavaScript. */
function programOf(code: string, name = 'kustomize'): string {
  const place = join(folder.path, `bin-${count}`);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, name), `#!${process.execPath}\n${code}`);
  chmodSync(join(place, name), 0o755);
  return place;
}

function builderOf(options: Partial<KustomizeOptions> & Pick<KustomizeOptions, 'searchPath'>): KustomizeBuilder {
  return createKustomize({ temporary, now: Date.now, ...options });
}

const FILES = new Map([['prod/kustomization.yaml', Buffer.from('{}')]]);

test('the program gets a copy of the files, and nothing of the environment', async () => {
  const code = `
const { readdirSync } = require('node:fs');
console.log(JSON.stringify({ args: process.argv.slice(2), env: process.env, files: readdirSync('.', { recursive: true }) }));
`;
  process.env.HTTPS_PROXY = 'http://user:password@proxy.example.com';
  const { args, env, files } = JSON.parse(await builderOf({ searchPath: programOf(code) }).build('prod', FILES));
  delete process.env.HTTPS_PROXY;
  expect(args).toEqual(['build', '--load-restrictor', 'LoadRestrictionsNone', expect.stringMatching(/tree\/prod$/)]);
  expect(Object.keys(env).sort()).toEqual(['GOMAXPROCS', 'GOMEMLIMIT', 'HOME', 'PATH', 'TMPDIR']);
  expect(env.PATH).toBe('');
  expect(files.sort()).toEqual(['prod', 'prod/kustomization.yaml']);
  expect(readdirSync(temporary)).toEqual([]);
});

test('a relative folder for temporary files is one below the current directory', async () => {
  const code =
    "console.log(process.argv.at(-1), process.env.HOME, require('node:fs').existsSync(process.argv.at(-1)));";
  temporary = relative(process.cwd(), temporary);
  const [tree = '', home = '', isThere] = (await builderOf({ searchPath: programOf(code) }).build('prod', FILES))
    .trim()
    .split(' ');
  expect([isAbsolute(tree), isAbsolute(home), isThere]).toEqual([true, true, 'true']);
});

test('kubectl is used if there is no kustomize', async () => {
  const searchPath = programOf('console.log(process.argv[2]);', 'kubectl');
  expect(await builderOf({ searchPath: `relative:/nowhere:${searchPath}` }).build('prod', FILES)).toBe('kustomize\n');
});

test('without a program the message says what to install', async () => {
  const builder = builderOf({ searchPath: join(folder.path, 'nothing') });
  const failure = { code: 'kustomize-missing', message: expect.stringContaining('install one of them') };
  await expect(builder.build('prod', FILES)).rejects.toMatchObject(failure);
  await expect(builder.identity()).rejects.toMatchObject(failure);
});

test.each([
  ['time', 'setInterval(() => 0, 1000);', { milliseconds: 200 }, 'took more than 0.2 s'],
  [
    'output',
    "for (;;) require('node:fs').writeSync(1, 'x'.repeat(65536));",
    { outputBytes: 1 << 20 },
    'printed more than 1 MiB',
  ],
  [
    'words',
    "for (;;) require('node:fs').writeSync(2, 'x'.repeat(65536));",
    { outputBytes: 1 << 20 },
    'printed more than 1 MiB',
  ],
  [
    'memory',
    'const kept = []; setInterval(() => kept.push(Buffer.alloc(16 << 20, 1)), 10);',
    { memoryBytes: 256 << 20 },
    'took more than 256 MiB of memory',
  ],
])('a build that takes too much %s is ended, and leaves nothing', async (what, code, limits, message) => {
  if (what === 'memory' && !existsSync('/proc/self/status')) return;
  const building = builderOf({ searchPath: programOf(code), limits }).build('prod', FILES);
  await expect(building).rejects.toMatchObject({
    code: 'kustomize-too-costly',
    message: expect.stringContaining(message),
  });
  expect(readdirSync(temporary)).toEqual([]);
});

test('its complaint is passed on without paths of this machine and without contents of files', async () => {
  const code = `
console.error('# Warning: old field');
console.error('Error: in ' + process.argv.at(-1) + '/a.yaml: cannot apply [password: hunter2] or \`hunter2\` to {hunter2}');
console.error('hunter2');
process.exit(1);
`;
  const building = builderOf({ searchPath: programOf(code) }).build('prod', FILES);
  await expect(building).rejects.toMatchObject({
    code: 'kustomize-failed',
    message: 'kustomize says: in prod/a.yaml: cannot apply [...] or ... to {...}',
  });
});

test('folders that a killed process left are removed after ten minutes', async () => {
  const [old, young] = ['skep-kustomize-old', 'skep-kustomize-young'].map((name) => join(temporary, name));
  for (const place of [old, young, join(temporary, 'other')]) mkdirSync(place ?? '', { recursive: true });
  utimesSync(old ?? '', new Date(Date.now() - 11 * 60_000), new Date(Date.now() - 11 * 60_000));
  await builderOf({ searchPath: programOf('') }).build('prod', FILES);
  expect(readdirSync(temporary).sort()).toEqual(['other', 'skep-kustomize-young']);
});

test.skipIf(!hasKustomize)('kustomize itself works so, and refuses with its own words', async () => {
  const builder = builderOf({ searchPath: process.env.PATH ?? '' });
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
  const files = new Map([
    ['prod/kustomization.yaml', Buffer.from('{"resources": ["../a.yaml"], "namePrefix": "x-"}')],
    ['a.yaml', Buffer.from(map)],
  ]);
  expect(await builder.build('prod', files)).toContain('name: x-a');
  files.set('a.yaml', Buffer.from(`${map}---\n${map}`));
  await expect(builder.build('prod', files)).rejects.toMatchObject({
    code: 'kustomize-failed',
    message: expect.stringMatching(/^kustomize says: .*accumulating resources: .*a\.yaml/),
  });
  expect(readdirSync(temporary)).toEqual([]);
});
