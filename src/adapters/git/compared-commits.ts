// Finds the two commits of a local repository to compare: `head`, and the merge base of the histories of `head` and
// `base`.

import { join } from 'node:path';
import type { Checkout } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { checkFormat, findLayout, type Layout, openLocal, readAgain, resolveRef } from './local.ts';
import { mergeBase } from './objects/merge-base.ts';
import { openObjectStore } from './objects/objects.ts';
import { peelToCommit } from './objects/tree.ts';
import { commitReference, isOid, isRefName } from './reference.ts';
import { trustOf } from './signatures/verify.ts';

export interface ComparedNames {
  /** A branch, a tag, a full ref name, `HEAD`, or a commit id with all 40 digits. `head` accepts the same names. */
  readonly base: string;
  readonly head: string;
}

export interface ComparedCommits {
  /** The merge base of the two commits. */
  readonly base: Checkout;
  readonly head: Checkout;
}

const OBJECT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads the repository in `folder`. Throws Failure `git-not-a-repository`, `git-ref-not-found`, `git-invalid-ref`,
 * `git-history-missing`.
 */
export async function readComparedCommits(folder: string, names: ComparedNames): Promise<ComparedCommits> {
  const { base, head } = await readAgain(() => findCommits(folder, names));
  const limits = { maxObjectBytes: OBJECT_BYTES_MAX };
  const repository = openLocal({
    folder,
    reference: commitReference(head),
    path: '',
    limits,
    trust: trustOf(undefined),
  });
  return { base: await repository.at(base), head: await repository.fetch() };
}

async function findCommits(folder: string, { base, head }: ComparedNames): Promise<ComparedNames> {
  const layout = await findLayout(folder);
  await checkFormat(layout.common);
  const [baseTip, headTip] = [await findTip(layout, base), await findTip(layout, head)];
  const store = openObjectStore(join(layout.common, 'objects'), OBJECT_BYTES_MAX);
  function commitAt(name: string, tip: string): string {
    if (store.read(tip) === undefined) throw notFound(name);
    return peelToCommit(store, tip);
  }
  try {
    const [from, to] = [commitAt(base, baseTip), commitAt(head, headTip)];
    const met = mergeBase(store, from, to);
    if (met === undefined) throw historyMissing(base, head);
    return { base: met, head: to };
  } finally {
    store.close();
  }
}

/**
 * Prefixes of ref names in the order of gitrevisions(7). A clone in CI has most branches only below
 * `refs/remotes/origin`.
 */
const FOLDERS = ['refs/tags/', 'refs/heads/', 'refs/remotes/', 'refs/remotes/origin/'];

async function findTip(layout: Layout, name: string): Promise<string> {
  if (isOid(name.toLowerCase())) return name.toLowerCase();
  if (name !== 'HEAD' && !isRefName(name)) {
    const message = `"${name}" is not a name of a branch, tag or commit: name one of them, a commit with all 40 digits`;
    throw new Failure('git-invalid-ref', message, { data: { ref: name } });
  }
  const full = name === 'HEAD' || name.startsWith('refs/') ? [name] : FOLDERS.map((folder) => folder + name);
  for (const each of full) {
    const tip = await resolveRef(layout, each);
    if (tip !== undefined) return tip;
  }
  throw notFound(name);
}

function notFound(name: string): Failure {
  const message = `this clone has no branch, tag or commit "${name}": fetch it (in CI, with the whole history), or name a commit with all 40 digits`;
  return new Failure('git-ref-not-found', message, { data: { ref: name } });
}

function historyMissing(base: string, head: string): Failure {
  const message = `this clone has no commit in which the histories of ${base} and ${head} meet: fetch the whole history (fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)`;
  return new Failure('git-history-missing', message, { data: { base, head } });
}
