// Makes dist/ out of src/. `npm ci` runs it, so that dist/skep.js exists.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

if (existsSync('node_modules/rolldown')) {
  const { bundleTo } = await import('./bundle.ts');
  const { writeBuildInfo } = await import('./build-info.ts');
  await bundleTo('dist');
  writeBuildInfo('dist', process.env);
} else if (existsSync('dist/skep.js')) {
  process.stderr.write('skep: no bundler is installed, keeping dist/ as it is\n');
} else {
  process.stderr.write('skep: dist/ is missing, and no bundler is installed: run npm ci without --omit=optional\n');
  process.exitCode = 1;
}
