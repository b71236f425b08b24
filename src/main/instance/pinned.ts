// A repository at one commit that somebody has named before, whatever its ref names by now. Knows nothing about plans.

import type { Checkout, Repository } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';

/** `byTag`: the commit is trusted for the tag that leads to it, so the ref must still name it. */
export function pinned(repository: Repository, commit: string, byTag: boolean): Repository {
  return {
    ...repository,
    async fetch() {
      if (byTag) return unmoved(repository, commit);
      try {
        return await repository.at(commit);
      } catch (failure) {
        // Some servers hand out only what a ref names: it may still be this commit.
        if (!(failure instanceof Failure) || failure.code !== 'git-ref-not-found') throw failure;
        return unmoved(repository, commit);
      }
    },
  };
}

/** Throws Failure `plan-commit-gone` where the ref names another one. */
async function unmoved(repository: Repository, commit: string): Promise<Checkout> {
  const checkout = await repository.fetch();
  if (checkout.commit === commit) return checkout;
  const message = `commit ${commit} cannot be had any more, and the ref names ${checkout.commit} now: plan again`;
  throw new Failure('plan-commit-gone', message, { data: { commit } });
}

/** A URL without credentials. */
export function shown(repository: string): string {
  const url = repository.includes('://') ? URL.parse(repository) : null;
  if (url === null) return repository;
  url.username = '';
  url.password = '';
  return url.href;
}
