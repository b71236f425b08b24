// Parses patterns in skep.yaml: names with wildcards.

import { Failure } from '#std/failure.ts';
import { type Glob, globMatches, parseGlob } from '#std/patterns/glob.ts';

/** Returns the parsed pattern. Throws Failure `pattern-invalid`. */
export function readPattern(setting: string, pattern: string): Glob {
  const glob = parseGlob(pattern);
  if (glob !== undefined) return glob;
  throw new Failure(
    'pattern-invalid',
    `${setting}: "${pattern}" is not a pattern: write a name, or a pattern such as team-*`,
    {
      data: { setting, pattern },
    },
  );
}

/**
 * Returns a function that returns true for matching paths. As in .gitignore, a leading `**` with a slash also matches
 * the top folder. Throws Failure `pattern-invalid`.
 */
export function pathMatcher(setting: string, patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map((pattern) => readPattern(setting, pattern));
  return (path) => globs.some((glob) => globMatches(glob, path) || globMatches(glob, `/${path}`));
}
