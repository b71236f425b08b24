// Prints the folders of `src` that hold too many files, and fails if there are some.

import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crowdedFolders } from './folders/crowded.ts';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const found = crowdedFolders(files.map(({ parentPath, name }) => relative(SRC, join(parentPath, name))));
for (const sentence of found) process.stdout.write(`${sentence}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
