// Reads a repository at a given commit that its ref has named before, even if the ref names another commit now.

import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

export interface Pin {
  readonly commit: string;
  /**
   * Returns whether the ref has named the commit before, by the history. If absent, an accepted key has signed the plan
   * with the commit.
   */
  readonly wasNamed?: () => Promise<boolean>;
}

/** `byTag`: the commit is trusted because of the tag that leads to it, so the ref must still name it. */
export function pinned(repository: Repository, { commit, wasNamed }: Pin, byTag: boolean): Repository {
  return {
    ...repository,
    async fetch() {
      if (wasNamed !== undefined && !(await isNamed(repository, commit)) && !(await wasNamed()))
        throw neverNamed(commit);
      if (byTag) return unmoved(repository, commit);
      try {
        return await repository.at(commit);
      } catch (failure) {
        // Some servers serve only commits that a ref names, and the ref may still name this commit.
        if (!(failure instanceof Failure) || failure.code !== 'git-ref-not-found') throw failure;
        return unmoved(repository, commit);
      }
    },
  };
}

/** Returns whether the ref names the commit; false if the server does not respond. */
async function isNamed(repository: Repository, commit: string): Promise<boolean> {
  try {
    return (await repository.fetch()).commit === commit;
  } catch (failure) {
    if (failure instanceof Failure) return false;
    throw failure;
  }
}

/** A repository serves any commit that was pushed to it, also from branches that were never merged. */
function neverNamed(commit: string): Failure {
  const message = `commit ${commit} is not named by the ref of its source, and no run has read it: plan again, or sign the plan (plans.keys)`;
  return new Failure('plan-commit-unknown', message, { data: { commit } });
}

/** Throws Failure `plan-commit-gone` if the ref names another commit. */
async function unmoved(repository: Repository, commit: string): Promise<Checkout> {
  const checkout = await repository.fetch();
  if (checkout.commit === commit) return checkout;
  const message = `commit ${commit} is no longer served, and the ref names ${checkout.commit} now: plan again`;
  throw new Failure('plan-commit-gone', message, { data: { commit } });
}

/**
 * Returns the same text for each URL of a repository and a path in it: `git.example.com/platform/fleet#clusters/prod`.
 */
export function sourceOrigin(repository: string, path: string): string {
  const url = repository.includes('://') ? URL.parse(repository) : null;
  // The form git@host:path.
  const where = url === null ? repository.replace(/^[^@/]*@/, '').replace(':', '/') : `${url.host}${url.pathname}`;
  const folder = path.replace(/^\.?\/+|\/+$/g, '');
  return `${where
    .replace(/\.git\/?$/, '')
    .replace(/\/+/g, '/')
    .replace(/\/$/, '')}#${folder}`;
}

/** Returns the URL without credentials. */
export function shown(repository: string): string {
  const url = repository.includes('://') ? URL.parse(repository) : null;
  if (url === null) return repository;
  url.username = '';
  url.password = '';
  return url.href;
}
