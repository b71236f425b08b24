// The version of this build, out of package.json.

import { readFileSync } from 'node:fs';

/** `src/main/` and `dist/main/` are equally far from the root of the package. */
const MANIFEST = new URL('../../package.json', import.meta.url);

export const VERSION: string = String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);
