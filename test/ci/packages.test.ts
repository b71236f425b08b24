// What package-lock.json lets into the product: from where, under which licence, and what runs while it is installed.

import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface Package {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: true;
  readonly devOptional?: true;
  readonly link?: true;
  readonly hasInstallScript?: true;
}

const lock: { readonly packages: Readonly<Record<string, Package>> } = read('package-lock.json');
const manifest: { readonly allowScripts: Readonly<Record<string, boolean>> } & Record<
  'dependencies' | 'optionalDependencies' | 'devDependencies',
  Readonly<Record<string, string>>
> = read('package.json');
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

const LICENCES: ReadonlySet<string> = new Set(['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', '0BSD']);

/** Other licences that are compatible with distributing the product, each with what it is here for. */
const EXCEPTIONS: Readonly<Record<string, { readonly license: string; readonly reason: string }>> = {
  argparse: { license: 'PSF-2.0', reason: 'permissive; of js-yaml' },
  openpgp: {
    license: 'LGPL-3.0+',
    reason: 'a library of its own in node_modules, unchanged, loaded to check signatures',
  },
  pako: { license: '(MIT AND Zlib)', reason: 'permissive; of isomorphic-git' },
  'sha.js': { license: '(MIT AND BSD-3-Clause)', reason: 'permissive; of isomorphic-git' },
  'stream-buffers': { license: 'Unlicense', reason: 'public domain; of the Kubernetes client' },
};

test('every package of the product has a licence that lets it be given away', () => {
  const others = packages
    .filter(([, { dev, license = '' }]) => dev !== true && !LICENCES.has(license))
    .map(([path, { license }]) => [nameOf(path), license]);
  const known = Object.entries(EXCEPTIONS).map(([name, { license }]) => [name, license]);
  expect(others.toSorted()).toEqual(known.toSorted());
});

/** Where npm looks unless the lock says otherwise. */
const REGISTRY = 'https://registry.npmjs.org/';

test('every package comes from the registry, and is what it was', () => {
  const doubtful = packages.filter(
    ([, { link, resolved, integrity }]) =>
      link !== true && !((resolved ?? REGISTRY).startsWith(REGISTRY) && integrity?.startsWith('sha512-') === true),
  );
  expect(doubtful.map(([path]) => path)).toEqual([]);
});

test('nothing runs while packages are installed but what package.json names', () => {
  const scripts = new Set(packages.filter(([, each]) => each.hasInstallScript === true).map(([path]) => nameOf(path)));
  const allowed = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name] === true);
  expect([...scripts].filter((name) => !allowed.includes(name))).toEqual([]);
});

test('what package.json asks for is one version each', () => {
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const ranges = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[a-z0-9.-]+)?$/.test(version),
  );
  expect(ranges).toEqual([]);
});

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Values, not types: of `import`, `import()`, and what is loaded later by its name. */
const LOADS = /(?:^(?:import|export) (?!type )[^;]*?from |\bimport\(|\blazyPackage<[^;]*\(|\bload\()'([^'.#][^']*)'/gm;

test('nothing that the program or its build loads is a development dependency: npm ci --omit=dev && npm start works', () => {
  const files = globSync(['src/**/*.ts', 'scripts/{build,bundle,build-info}.ts'], { cwd: ROOT });
  const texts = files.filter((file) => !file.endsWith('.test.ts')).map((file) => readFileSync(ROOT + file, 'utf8'));
  const loaded = texts.flatMap((text) => [...text.matchAll(LOADS)].map(([, id = '']) => id));
  const names = loaded.filter((id) => !isBuiltin(id)).map((id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id);
  const { dependencies, optionalDependencies } = manifest;
  expect(names).toEqual(expect.arrayContaining(['commander', 'rolldown', 'yaml', 'undici', 'oidc-provider']));
  expect(names.filter((name) => !(name in dependencies) && !(name in optionalDependencies))).toEqual([]);
  // Everything runs on it where the system has an older one.
  expect(optionalDependencies).toHaveProperty('node');
});
