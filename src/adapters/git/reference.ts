// Which commit of a repository is meant: by branch, tag, commit or as the remote's default. Knows nothing about remotes.

import { Failure } from '../../std/failure.ts';

/** At most one of them; none means what the remote's HEAD points to. */
export interface GitRef {
  readonly branch?: string;
  readonly tag?: string;
  /** All 40 hexadecimal digits. */
  readonly commit?: string;
}

/** `says` names it in messages, `absent` is what to say where a repository lacks it. */
export type Reference =
  /** `name` is the full one: `refs/heads/main`, `refs/tags/v1`, `HEAD`. */
  | { readonly type: 'name'; readonly name: string; readonly says: string; readonly absent: string }
  | { readonly type: 'commit'; readonly oid: string; readonly says: string; readonly absent: string };

/** Throws Failure `git-invalid-ref`. */
export function readReference(ref: GitRef): Reference {
  const given = Object.entries({ branch: ref.branch, tag: ref.tag, commit: ref.commit }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1)
    throw invalid('name one of branch, tag and commit, not several', given.map(([key]) => key).join(', '));
  if (ref.commit !== undefined) {
    const oid = ref.commit.toLowerCase();
    if (!isOid(oid)) throw invalid(`commit "${ref.commit}" must be all 40 hexadecimal digits`, ref.commit);
    return { type: 'commit', oid, says: `commit ${oid}`, absent: `it has no commit ${oid}` };
  }
  if (ref.branch !== undefined) return named('refs/heads/', ref.branch, `branch "${ref.branch}"`);
  if (ref.tag !== undefined) return named('refs/tags/', ref.tag, `tag "${ref.tag}"`);
  return { type: 'name', name: 'HEAD', says: 'the default branch', absent: 'it is empty: it has no default branch' };
}

export function isOid(text: string): boolean {
  return text.length === 40 && [...text].every((char) => (char >= '0' && char <= '9') || (char >= 'a' && char <= 'f'));
}

function named(prefix: string, name: string, says: string): Reference {
  if (!isRefName(name)) throw invalid(`${says} is no valid name`, name);
  return { type: 'name', name: prefix + name, says, absent: `it has no ${says}` };
}

const FORBIDDEN = new Set(' ~^:?*[\\\u007f');

/** The rules of git-check-ref-format(1). */
function isRefName(name: string): boolean {
  const charactersFit = [...name].every((char) => char >= ' ' && !FORBIDDEN.has(char));
  const partsFit = name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
  return (
    charactersFit && partsFit && !name.includes('..') && !name.includes('@{') && !name.endsWith('.') && name !== '@'
  );
}

function invalid(message: string, ref: string): Failure {
  return new Failure('git-invalid-ref', message, { data: { ref } });
}
