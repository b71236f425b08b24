// Compiles src/ to dist/ and copies what is not TypeScript. `npm ci` runs it, so that dist/skep.js exists.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

if (!existsSync('node_modules/.bin/tsc')) {
  // A production install (`--omit=dev`) has no compiler: it uses the dist/ that was built before.
  process.stderr.write('skep: no compiler installed, keeping dist/ as it is\n');
  process.exit(0);
}
rmSync('dist', { recursive: true, force: true });
compile('-p', 'tsconfig.build.json');
// Another world, with other globals: the modules of the registry's page run in browsers.
const page = 'registry/page/browser';
compile('-p', `src/${page}`, '--noEmit', 'false', '--outDir', `dist/${page}`);
cpSync('src', 'dist', { recursive: true, filter: (path) => !/\.(ts|json|md)$/.test(path) });
if (existsSync('dist/skep.js')) chmodSync('dist/skep.js', 0o755);

function compile(...args: readonly string[]): void {
  const { status } = spawnSync('node_modules/.bin/tsc', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
