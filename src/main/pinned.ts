// A repository at one commit that somebody has named before, whatever its ref names by now. Knows nothing about plans.

import type { Repository } from '../reconcile/ports.ts';
import { Failure } from '../std/failure.ts';
import { type GitDeps, type GitRequest, openGit } from './repositories.ts';

/** `commit` undefined: what the ref names. Throws Failure `plan-commit-gone` where a server hands the commit out no more. */
export function openPinned(deps: GitDeps, request: GitRequest, commit: string | undefined): Repository {
  const configured = openGit(deps, request);
  if (commit === undefined) return configured;
  const asNow = (): Promise<Awaited<ReturnType<Repository['fetch']>>> => unmoved(configured, request, commit);
  // Who signs tags trusts a name: a commit by itself has none.
  if (request.verify !== undefined && request.verify.mode !== 'head') return { ...configured, fetch: asNow };
  const pinned = openGit(deps, { ...request, at: commit });
  return {
    ...configured,
    async fetch() {
      try {
        return await pinned.fetch();
      } catch (failure) {
        // Some servers hand out only what a ref names: it may still be this commit.
        if (!(failure instanceof Failure) || failure.code !== 'git-ref-not-found') throw failure;
        return asNow();
      }
    },
  };
}

async function unmoved(configured: Repository, { repository }: GitRequest, commit: string) {
  const checkout = await configured.fetch();
  if (checkout.commit === commit) return checkout;
  const message = `commit ${commit} cannot be had any more, and the ref names ${checkout.commit} now: plan again`;
  throw new Failure('plan-commit-gone', message, { data: { repository: shown(repository), commit } });
}

/** Without credentials. */
export function shown(repository: string): string {
  const url = repository.includes('://') ? URL.parse(repository) : null;
  if (url === null) return repository;
  url.username = '';
  url.password = '';
  return url.href;
}
