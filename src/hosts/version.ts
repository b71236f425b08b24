// The version of this build, out of package.json, and the commit that it was built of.

import { existsSync, readFileSync } from 'node:fs';

/** `src/hosts/` and `dist/main/` are equally far from the root of the package. */
const MANIFEST = new URL('../../package.json', import.meta.url);

export const VERSION: string = String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);

export interface Build {
  readonly commit: string;
  /** RFC 3339, or `unknown`. */
  readonly date: string;
}

/** Written beside the program when it is built; from a checkout there is none. */
const BUILD_FILE = new URL('../build.json', import.meta.url);

/** What is not known is `unknown`. */
export function readBuild(file: URL = BUILD_FILE): Build {
  const known: Partial<Build> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return { commit: 'unknown', date: 'unknown', ...known };
}
