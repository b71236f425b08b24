// The program as it is installed: compiled JavaScript, of this very tree, in a folder of its own so that `dist/` is left
// alone.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The path of `skep.js`. What it reads beside itself is linked. */
export function compileTo(folder: string): string {
  const root = join(folder, 'program');
  const dist = join(root, 'dist');
  mkdirSync(root);
  for (const name of ['node_modules', 'package.json', 'manifests']) symlinkSync(join(ROOT, name), join(root, name));
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const { status } = spawnSync(compiler, ['-p', 'tsconfig.build.json', '--outDir', dist], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the program does not compile');
  cpSync(join(ROOT, 'src'), dist, { recursive: true, filter: (path) => !/\.(ts|json)$/.test(path) });
  return join(dist, 'skep.js');
}
