// Compares versions, and finds the latest version.

/** Compared parts of a semantic version. A prefix `v` and build metadata are ignored. */
interface Semver {
  readonly numbers: readonly string[];
  readonly prerelease: readonly string[];
}

export interface Candidate {
  readonly version: string;
  /** True if the publisher calls this version the latest. */
  readonly isLatest?: boolean | undefined;
  /** RFC 3339 in UTC, in the same notation for all candidates. */
  readonly publishedAt: string;
}

/**
 * Returns the latest version: the version that its publisher calls latest, or else the highest semantic version, or
 * else the last published version. Of equal versions, such as 1.0.0 and v1.0.0, returns the last published version, or
 * else the greater text. Returns undefined without candidates.
 */
export function latestOf<T extends Candidate>(candidates: readonly T[]): T | undefined {
  const named = candidates.filter((candidate) => candidate.isLatest === true);
  return (named.length > 0 ? named : candidates).reduce<T | undefined>(
    (best, candidate) => (best === undefined || isNewer(candidate, best) ? candidate : best),
    undefined,
  );
}

function isNewer(a: Candidate, b: Candidate): boolean {
  const semverA = parseSemver(a.version);
  const semverB = parseSemver(b.version);
  const precedence = semverA && semverB ? comparePrecedence(semverA, semverB) : 0;
  if (precedence !== 0) return precedence > 0;
  if ((semverA === undefined) !== (semverB === undefined)) return semverA !== undefined;
  const time = compareText(a.publishedAt, b.publishedAt);
  return time === 0 ? compareText(a.version, b.version) > 0 : time > 0;
}

/** Orders versions ascending: other texts before semantic versions. Semantic versions are ordered by precedence. */
export function compareVersions(a: string, b: string): number {
  const semverA = parseSemver(a);
  const semverB = parseSemver(b);
  if (semverA !== undefined && semverB !== undefined) return comparePrecedence(semverA, semverB) || compareText(a, b);
  if (semverA !== undefined) return 1;
  return semverB !== undefined ? -1 : compareText(a, b);
}

/**
 * Parses a semantic version (semver.org 2.0.0, items 2, 9 and 10), with or without a prefix `v`. Returns undefined for
 * other texts.
 */
function parseSemver(version: string): Semver | undefined {
  const [precedence = '', ...build] = version.split('+');
  if (build.length > 1 || !build.every((part) => part.split('.').every(isWord))) return undefined;
  const text = precedence.startsWith('v') ? precedence.slice(1) : precedence;
  const dash = text.indexOf('-');
  const numbers = (dash < 0 ? text : text.slice(0, dash)).split('.');
  if (numbers.length !== 3 || !numbers.every(isNumber)) return undefined;
  if (dash < 0) return { numbers, prerelease: [] };
  const prerelease = text.slice(dash + 1).split('.');
  return prerelease.every(isIdentifier) ? { numbers, prerelease } : undefined;
}

/** Compares by item 11: first the numbers, then a release above its prereleases, then each identifier. */
function comparePrecedence(a: Semver, b: Semver): number {
  const numbers = compareLists(a.numbers, b.numbers);
  if (numbers !== 0) return numbers;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  return compareLists(a.prerelease, b.prerelease);
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareIdentifiers(a[index] ?? '', b[index] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareIdentifiers(a: string, b: string): number {
  const numericA = isDigits(a);
  const numericB = isDigits(b);
  // Compared as texts, since numbers may exceed a double's precision. Without leading zeros the longer number is
  // greater.
  if (numericA && numericB) return a.length === b.length ? compareText(a, b) : a.length - b.length;
  if (numericA !== numericB) return numericA ? -1 : 1;
  return compareText(a, b);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isNumber(text: string): boolean {
  return isDigits(text) && (text === '0' || !text.startsWith('0'));
}

function isIdentifier(text: string): boolean {
  return isDigits(text) ? isNumber(text) : isWord(text);
}

function isWord(text: string): boolean {
  return /^[0-9A-Za-z-]+$/.test(text);
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
