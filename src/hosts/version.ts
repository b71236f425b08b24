// Reads the version of this build from package.json, and its commit from a file that the build writes.

import { existsSync, readFileSync } from 'node:fs';

/** The path is the same from `src/hosts/` and `dist/hosts/`. */
const MANIFEST = new URL('../../package.json', import.meta.url);

export const VERSION: string = String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);

export interface Build {
  readonly commit: string;
  /** RFC 3339, or `unknown`. */
  readonly date: string;
}

/** File that the build writes next to the program. A checkout does not contain the file. */
const BUILD_FILE = new URL('../build.json', import.meta.url);

/** Returns `unknown` for unknown values. */
export function readBuild(file: URL = BUILD_FILE): Build {
  const known: Partial<Build> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return { commit: 'unknown', date: 'unknown', ...known };
}
