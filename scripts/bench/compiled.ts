// The program as it is installed, of this very tree, in a folder of its own so that `dist/` is left alone.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleTo } from '../bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The path of `skep.js`. What it reads beside itself is linked. */
export function compileTo(folder: string): Promise<string> {
  const root = join(folder, 'program');
  mkdirSync(root);
  for (const name of ['node_modules', 'package.json', 'manifests', 'policies'])
    symlinkSync(join(ROOT, name), join(root, name));
  return bundleTo(join(root, 'dist'));
}
