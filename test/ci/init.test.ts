// What `skep init` writes is valid, and nothing is written over.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runValidation } from '#cli/offline/validation.ts';
import { scaffold } from '#cli/scaffold.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { findManifestFolders } from '#hosts/config/repository.ts';
import { VERSION } from '#hosts/version.ts';

const URL_OF_IT = 'git@git.example.com:team/fleet.git';
const folders: string[] = [];
let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'init-')), 'new/fleet');
  folders.push(folder);
});

afterAll(() => {
  for (const each of folders) rmSync(join(each, '../..'), { recursive: true, force: true });
});

// As `skep validate` is called on the folder itself: its workflows, settings and the catalogue's data are no manifests.
test('its manifests are valid, without a warning', async () => {
  scaffold(folder, URL_OF_IT);
  const folders = await findManifestFolders(folder, {});
  expect(folders).toEqual([{ path: join(folder, 'clusters/prod'), ignore: [] }]);
  const request = {
    folders,
    schemas: [],
    apiGroup: 'toolhive.stacklok.dev',
    policies: ['builtin'],
  };
  const { summary, problems } = await runValidation(request, undefined);
  expect(problems).toEqual([]);
  expect(summary.resources).toBeGreaterThan(4);
});

test('its settings are read, and name the repository; so does the catalogue', () => {
  scaffold(folder, URL_OF_IT);
  const text = readFileSync(join(folder, 'skep.yaml'), 'utf8');
  const config = readConfig({ text, file: 'skep.yaml', environment: {} });
  expect(config.sources[0]?.repository).toBe(URL_OF_IT);
  const catalogue = readFileSync(join(folder, 'clusters/prod/platform/catalogue.yaml'), 'utf8');
  expect(parse(catalogue).spec.registries[0].git.repository).toBe(URL_OF_IT);
});

test('its CI runs this version, and everything that its files name is there', () => {
  const files = scaffold(folder, undefined);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(read('.github/workflows/validate.yaml')).toContain(`/validate@v${VERSION}`);
  expect(parse(read('.gitlab-ci.yml')).validate.image.name).toMatch(new RegExp(`:${VERSION}$`));
  expect(parse(read('.pre-commit-config.yaml')).repos[0].hooks[0].entry).toBe('skep validate .');
  expect(files).toContain('schema.json');
  for (const name of files.filter((each) => each.startsWith('clusters/'))) {
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(read(name)) ?? [];
    expect(existsSync(join(folder, name, '..', schema)), name).toBe(true);
  }
});

// `git add --all` after the commands of docs/first-repository.md, docs/secrets.md and docs/plans.md.
test('what commands leave in it is not committed: state, the private key, plan files', () => {
  scaffold(folder, undefined);
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  git('init', '--quiet');
  git('add', '--all');
  mkdirSync(join(folder, '.skep'));
  for (const name of ['.skep/prod-last-run.json', 'age-keys.txt', 'fleet.plan', 'fleet.plan.sig', 'kept.yaml'])
    writeFileSync(join(folder, name), '');
  expect(git('ls-files', '--others', '--exclude-standard')).toBe('kept.yaml\n');
});

test('a folder that holds other things is fine; one that holds such a file is left as it is', () => {
  mkdirSync(join(folder, '.git'), { recursive: true });
  writeFileSync(join(folder, 'LICENSE'), 'free');
  scaffold(folder, undefined);
  writeFileSync(join(folder, 'skep.yaml'), 'mine');
  rmSync(join(folder, 'README.md'));
  expect(() => scaffold(folder, undefined)).toThrow(/holds .*skep\.yaml.* already: nothing was written/);
  expect(readFileSync(join(folder, 'skep.yaml'), 'utf8')).toBe('mine');
  expect(existsSync(join(folder, 'README.md'))).toBe(false);
});

test('a file in the place of a folder is told', () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, '');
  expect(() => scaffold(folder, undefined)).toThrow(/cannot be written/);
});
