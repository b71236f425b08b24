// Reads a registry file in a Git repository, for the reconciler and the registry service.

import type { GitOptions } from '#adapters/git/repository.ts';
import type { GitOrigin } from '#contracts/registry/source.ts';
import type { Content } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { textOfFile } from '#std/utf8.ts';
import { type GitDeps, openGit } from './repositories.ts';

/**
 * `open` returns the credentials of a repository's `auth`. A repository without `auth` is read with the credentials for
 * its host.
 */
export async function readGit<A>(
  deps: GitDeps,
  origin: GitOrigin<A>,
  open: (auth: A) => Pick<GitOptions, 'auth' | 'ssh'>,
): Promise<Content> {
  const { repository, path, auth } = origin;
  const own = auth === undefined ? {} : { auth: open(auth) };
  const { branch, tag, commit } = origin;
  const checkout = await openGit(deps, { repository, branch, tag, commit, path, ...own }).fetch();
  const location = `${repository} ${path}@${checkout.commit.slice(0, 12)}`;
  const file = checkout.files.find((each) => each.path === path);
  if (file === undefined) throw new Failure('source-not-found', `${location}: there is no such file in the repository`);
  const bytes = (await checkout.read([file.oid])).get(file.oid) ?? new Uint8Array();
  return { documents: [{ text: textOfFile(bytes, location, 'source-not-text'), location }], extent: 'whole' };
}
