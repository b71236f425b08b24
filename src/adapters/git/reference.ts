// Parses the setting that selects a commit: a branch, a tag, a range of versions, a commit id or the remote's default
// branch.

import type { Range } from 'semver';
import { Failure } from '#std/failure.ts';
import { highestOf, readRange } from './versions.ts';

/** At most one field may be set. If none is set, the remote's HEAD is used. */
export interface GitRef {
  readonly branch?: string;
  readonly tag?: string;
  /** A range of versions. Selects the highest tag in the range. */
  readonly semver?: string;
  /** A commit id with all 40 hexadecimal digits. */
  readonly commit?: string;
}

interface Advertised {
  /** Noun phrase for messages. */
  readonly says: string;
  /** Message for a repository that lacks the reference. */
  readonly absent: string;
}

export interface NameReference extends Advertised {
  readonly type: 'name';
  /** Full ref name such as `refs/heads/main`, `refs/tags/v1` or `HEAD`. */
  readonly name: string;
}

export interface CommitReference extends Advertised {
  readonly type: 'commit';
  readonly oid: string;
}

export interface RangeReference extends Advertised {
  readonly type: 'range';
  readonly range: Range;
}

export type Reference = NameReference | CommitReference | RangeReference;

/** Throws Failure `git-invalid-ref`. */
export function readReference(ref: GitRef): Reference {
  const { branch, tag, semver, commit } = ref;
  const given = Object.entries({ branch, tag, semver, commit }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const message = 'name one of branch, tag, semver and commit, not several';
    throw invalidReference(message, given.map(([key]) => key).join(', '));
  }
  if (ref.commit !== undefined) {
    const oid = ref.commit.toLowerCase();
    if (!isOid(oid)) throw invalidReference(`commit "${ref.commit}" must be all 40 hexadecimal digits`, ref.commit);
    return commitReference(oid);
  }
  if (ref.branch !== undefined) return namedReference('refs/heads/', ref.branch, `branch "${ref.branch}"`);
  if (ref.tag !== undefined) return namedReference(TAG_PREFIX, ref.tag, `tag "${ref.tag}"`);
  if (semver !== undefined) {
    const says = `semver "${semver}"`;
    return { type: 'range', range: readRange(semver), says, absent: `none of its tags is a version of ${says}` };
  }
  return { type: 'name', name: 'HEAD', says: 'the default branch', absent: 'it is empty: it has no default branch' };
}

export function commitReference(oid: string): CommitReference {
  return { type: 'commit', oid, says: `commit ${oid}`, absent: `it has no commit ${oid}` };
}

export const TAG_PREFIX = 'refs/tags/';

/** Returns the highest tag of a range. `refs` are full ref names. Throws Failure `git-ref-not-found`. */
export function tagOf({ range, absent, says }: RangeReference, refs: readonly string[]): NameReference {
  const tags = refs.filter((ref) => ref.startsWith(TAG_PREFIX)).map((ref) => ref.slice(TAG_PREFIX.length));
  const tag = highestOf(range, tags);
  if (tag === undefined) throw new Failure('git-ref-not-found', absent);
  return { type: 'name', name: TAG_PREFIX + tag, says: `${says}, tag "${tag}"`, absent: `tag "${tag}" is gone again` };
}

export function isOid(text: string): boolean {
  return text.length === 40 && [...text].every((char) => (char >= '0' && char <= '9') || (char >= 'a' && char <= 'f'));
}

function namedReference(prefix: string, name: string, says: string): Reference {
  if (!isRefName(name)) throw invalidReference(`${says} is not a valid name`, name);
  return { type: 'name', name: prefix + name, says, absent: `it has no ${says}` };
}

const FORBIDDEN = new Set(' ~^:?*[\\\u007f');

/** True if the name satisfies git-check-ref-format(1). */
export function isRefName(name: string): boolean {
  const charactersFit = [...name].every((char) => char >= ' ' && !FORBIDDEN.has(char));
  const partsFit = name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
  return (
    charactersFit && partsFit && !name.includes('..') && !name.includes('@{') && !name.endsWith('.') && name !== '@'
  );
}

function invalidReference(message: string, ref: string): Failure {
  return new Failure('git-invalid-ref', message, { data: { ref } });
}
