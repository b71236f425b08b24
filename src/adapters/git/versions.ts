// Finds the highest tag of a repository in a range of versions.

import type { Range } from 'semver';
import { Failure } from '#std/failure.ts';
import { lazyPackage } from '#std/lazy-package.ts';

const semverPackage = lazyPackage<typeof import('semver')>('semver');

/** Parses a range in npm's syntax: `1.x`, `^1.4`, `>=1.2 <2`, `~2.3.0-0`. Throws Failure `git-invalid-ref`. */
export function readRange(text: string): Range {
  try {
    return new (semverPackage().Range)(text);
  } catch (cause) {
    throw new Failure('git-invalid-ref', `semver "${text}" is not a range of versions, such as ">=1.2 <2"`, {
      data: { ref: text },
      cause,
    });
  }
}

/**
 * Returns the tag with the highest version in the range (semver.org, item 11). A leading `v` is ignored. Prereleases
 * are included only if the range contains a prerelease of the same version. Among tags with equal versions, returns the
 * last by name.
 */
export function highestOf(range: Range, tags: readonly string[]): string | undefined {
  const semver = semverPackage();
  const versions = tags.flatMap((tag) => {
    const version = semver.parse(tag);
    return version !== null && range.test(version) ? [{ tag, version }] : [];
  });
  const [highest] = versions.sort((a, b) => semver.compareBuild(b.version, a.version) || (a.tag < b.tag ? 1 : -1));
  return highest?.tag;
}
