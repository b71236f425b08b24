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
} else {
  // A production install (`--omit=dev`) has no bundler: it uses the dist/ that was built before.
  process.stderr.write('skep: no bundler installed, keeping dist/ as it is\n');
}
