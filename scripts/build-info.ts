// Writes the commit of which the program was built, and its date, next to the program.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The environment says it where there is no repository (COMMIT, BUILD_DATE: the image), Git otherwise. The date is that of
 * the commit, so that the same commit gives the same files.
 */
export function writeBuildInfo(folder: string, environment: NodeJS.ProcessEnv): void {
  // Installed as a package, it may be inside the repository of something else.
  const isOurs = git('rev-parse', '--show-prefix') === undefined;
  const commit = environment.COMMIT || (isOurs ? git('rev-parse', 'HEAD') : undefined);
  const date = environment.BUILD_DATE || (isOurs ? git('log', '-1', '--format=%cI') : undefined);
  writeFileSync(join(folder, 'build.json'), `${JSON.stringify({ commit, date })}\n`);
}

function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || undefined;
  } catch {
    return undefined;
  }
}
