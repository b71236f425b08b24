// Implements semantic versions. Source: Kubernetes CEL, "Kubernetes semver library"; semver.org 2.0.0.

import { equals } from '../equality.ts';
import { CelSemver } from '../tagged.ts';
import { fail, type Library } from './library.ts';

const TYPE = 'kubernetes.Semver';

export const SEMVER_LIBRARY: Library = {
  types: { [TYPE]: CelSemver },
  functions: {
    [`semver(string): ${TYPE}`]: semverOf,
    [`semver(string, bool): ${TYPE}`]: (text: string, normalise: boolean) =>
      semverOf(normalise ? normalised(text) : text),
    'isSemver(string): bool': (text: string) => parseSemver(text) !== undefined,
    'isSemver(string, bool): bool': (text: string, normalise: boolean) =>
      parseSemver(normalise ? normalised(text) : text) !== undefined,
    [`${TYPE}.isGreaterThan(${TYPE}): bool`]: (a: CelSemver, b: CelSemver) => compareSemver(a, b) > 0,
    [`${TYPE}.isLessThan(${TYPE}): bool`]: (a: CelSemver, b: CelSemver) => compareSemver(a, b) < 0,
    [`${TYPE}.compareTo(${TYPE}): int`]: (a: CelSemver, b: CelSemver) => BigInt(compareSemver(a, b)),
    [`${TYPE}.major(): int`]: ({ value: { numbers } }: CelSemver) => numbers[0],
    [`${TYPE}.minor(): int`]: ({ value: { numbers } }: CelSemver) => numbers[1],
    [`${TYPE}.patch(): int`]: ({ value: { numbers } }: CelSemver) => numbers[2],
  },
  operators: { [`${TYPE} == ${TYPE}`]: equals },
};

const NUMBER = '(0|[1-9][0-9]*)';
const IDENTIFIER = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)';
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

function parseSemver(text: string): CelSemver | undefined {
  const [, major, minor, patch, prerelease] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return new CelSemver({
    numbers: [BigInt(major), BigInt(minor), BigInt(patch)],
    prerelease: prerelease?.split('.') ?? [],
  });
}

function semverOf(text: string): CelSemver {
  return parseSemver(text) ?? fail(`"${text}" is not a semantic version`);
}

/**
 * Drops a leading `v` and leading zeros. Adds missing numbers if the version has no pre-release and no build metadata.
 */
function normalised(text: string): string {
  const bare = text.replace(/^v/, '');
  const suffix = bare.search(/[-+]/);
  const numbers = suffix < 0 ? bare : bare.slice(0, suffix);
  const parts = numbers.split('.').map((part) => part.replace(/^0+(?=[0-9])/, ''));
  while (suffix < 0 && parts.length < 3) parts.push('0');
  return parts.join('.') + bare.slice(numbers.length);
}

function compareSemver({ value: a }: CelSemver, { value: b }: CelSemver): number {
  for (const index of [0, 1, 2] as const) {
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index] < b.numbers[index] ? -1 : 1;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** Compares pre-releases. A pre-release is lower than its release, and numbers are lower than words. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length) * (a.length === b.length ? 0 : 1);
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    if (left === right) continue;
    const numeric = [left, right].map((part) => /^[0-9]+$/.test(part));
    if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1;
    if (numeric[0] === true) return BigInt(left) < BigInt(right) ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 0;
}
