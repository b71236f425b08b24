// Copies the files of packages that the program in dist/ can load into a folder. The image contains no others: `node_modules` has
// five times as many files, most of them types, maps and builds for browsers.
//
// Usage: node scripts/image-packages.ts FOLDER

import assert from 'node:assert';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFileTrace } from '@vercel/nft';
import { BUNDLED_PACKAGES } from './bundle.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Optional packages that the image has: this one reads OpenPGP keys. The others are for `skep dev` and for builds. */
const OPTIONAL = ['openpgp'];

/** Files that are required by a variable, of packages without a main entry. */
const ENTRIES = ['@cedar-policy/cedar-wasm/nodejs'];

/** Licences go with each copy, and scanners of vulnerabilities read the version from package.json. */
const KEPT = '{package.json,LICEN[CS]E*,licen[cs]e*,NOTICE*,COPYING*}';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Paths below the root. Throws if a package that the program needs has no file among them. */
export async function imageFiles(dist: string): Promise<readonly string[]> {
  const { dependencies, optionalDependencies }: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = [...Object.keys(dependencies), ...OPTIONAL].filter((name) => !BUNDLED_PACKAGES.includes(name));
  const left = Object.keys(optionalDependencies).filter((name) => !OPTIONAL.includes(name));
  const load = createRequire(join(ROOT, 'package.json'));
  const programs = globSync('**/*.js', { cwd: dist, exclude: ['**/page/browser/**'] }).map((path) => join(dist, path));
  const entries = [...names, ...ENTRIES].flatMap((name) => requiredFile(load, name));
  const { fileList } = await nodeFileTrace([...programs, ...entries], {
    base: ROOT,
    ignore: left.map((name) => `node_modules/${name}/**`),
  });
  const files = [...fileList].filter((path) => path.startsWith('node_modules/'));
  const packages = new Set(files.map(packageOf));
  for (const name of names) assert(packages.has(`node_modules/${name}`), `${name} has no file in the image`);
  return [...new Set([...files, ...[...packages].flatMap(keptFiles)])].sort();
}

/** Packages that are loaded when they are first used are required by a variable, which the tracer cannot follow. */
function requiredFile(load: NodeJS.Require, name: string): readonly string[] {
  try {
    return [load.resolve(name)];
  } catch (error) {
    // It can only be imported, so that the tracer finds it, or ENTRIES has another entry.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return [];
    throw error;
  }
}

/** Folder of the innermost package that a file is of. */
function packageOf(path: string): string {
  const [folder = ''] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  return folder;
}

function keptFiles(folder: string): readonly string[] {
  return globSync(KEPT, { cwd: join(ROOT, folder) }).map((name) => join(folder, name));
}

const [, , target] = process.argv;
if (import.meta.main && target !== undefined) {
  assert(!existsSync(target), `${target} exists`);
  const files = await imageFiles(join(ROOT, 'dist'));
  for (const path of files)
    cpSync(join(ROOT, path), join(target, relative('node_modules', path)), { dereference: true });
  process.stdout.write(`${files.length} files of packages\n`);
}
