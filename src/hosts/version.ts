// Reads the version of this build from package.json, and the commit that it was built from.

import { existsSync, readFileSync } from 'node:fs';

/** `src/hosts/` and `dist/hosts/` are equally far from the root of the package. */
const MANIFEST = new URL('../../package.json', import.meta.url);

export const VERSION: string = String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);

export interface Build {
  readonly commit: string;
  /** RFC 3339, or `unknown`. */
  readonly date: string;
}

/** Written next to the program by the build; a checkout does not have it. */
const BUILD_FILE = new URL('../build.json', import.meta.url);

/** Unknown values are `unknown`. */
export function readBuild(file: URL = BUILD_FILE): Build {
  const known: Partial<Build> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return { commit: 'unknown', date: 'unknown', ...known };
}
