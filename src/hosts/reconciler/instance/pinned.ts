// Reads a repository at a given commit, even if its ref names another commit now.

import type { Checkout, Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

export interface Pin {
  readonly commit: string;
  /** Returns whether a recorded run has used the commit. If not set, the commit is accepted without this check. */
  readonly wasNamed?: () => Promise<boolean>;
}

/** `byTag`: the commit is trusted because of its tag, so the ref must still name the commit. */
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
        // Some servers serve only commits that refs name, so the commit may still be the ref's commit.
        if (!(failure instanceof Failure) || failure.code !== 'git-ref-not-found') throw failure;
        return unmoved(repository, commit);
      }
    },
  };
}

/** Returns whether the ref names the commit; false if the repository cannot be read. */
async function isNamed(repository: Repository, commit: string): Promise<boolean> {
  try {
    return (await repository.fetch()).commit === commit;
  } catch (failure) {
    if (failure instanceof Failure) return false;
    throw failure;
  }
}

/** Refuses unknown commits, because a repository also serves commits of branches that were never merged. */
function neverNamed(commit: string): Failure {
  const message = `commit ${commit} is not named by the ref of its source, and no run has read it: plan again, or sign the plan (plans.keys)`;
  return new Failure('plan-commit-unknown', message, { data: { commit } });
}

/** Returns the ref's commit. Throws Failure `plan-commit-gone` if it is another commit. */
async function unmoved(repository: Repository, commit: string): Promise<Checkout> {
  const checkout = await repository.fetch();
  if (checkout.commit === commit) return checkout;
  const message = `commit ${commit} is no longer served, and the ref names ${checkout.commit} now: plan again`;
  throw new Failure('plan-commit-gone', message, { data: { commit } });
}

/**
 * Returns an identifier of a repository and a path, such as `git.example.com/platform/fleet#clusters/prod`. URLs that
 * differ only in scheme, user or `.git` have the same identifier.
 */
export function sourceOrigin(repository: string, path: string): string {
  const url = repository.includes('://') ? URL.parse(repository) : null;
  // URLs without a scheme have the form git@host:path.
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
