// A registry file in a Git repository, for whichever process reads it. Knows nothing about where passwords are kept.

import { openRepository } from '../adapters/git/repository.ts';
import type { Outbound } from '../adapters/http/outbound.ts';
import { strictText } from '../adapters/sources/answer.ts';
import type { Content } from '../catalogue/ports.ts';
import type { GitOrigin } from '../contracts/registry-source.ts';
import type { Clock } from '../reconcile/ports.ts';
import { Failure } from '../std/failure.ts';
import { gitPlace } from './git-place.ts';

export interface GitDeps {
  readonly outbound: Outbound;
  readonly allowFiles: boolean;
  /** Where fetched repositories are kept. */
  readonly dir: string;
  readonly clock: Clock;
}

/** `password`: asked for at each conversation. */
export async function readGit<A>(
  { dir, ...deps }: GitDeps,
  origin: GitOrigin<A>,
  password: (auth: A) => Promise<string>,
): Promise<Content> {
  const { repository, path, auth } = origin;
  const opened = openRepository({
    ...deps,
    ...gitPlace(dir, origin),
    ...(auth === undefined ? {} : { auth: { username: auth.username, password: () => password(auth) } }),
    path,
  });
  const checkout = await opened.fetch();
  const location = `${repository} ${path}@${checkout.commit.slice(0, 12)}`;
  const file = checkout.files.find((each) => each.path === path);
  if (file === undefined) throw new Failure('source-not-found', `${location}: there is no such file in the repository`);
  const bytes = (await checkout.read([file.oid])).get(file.oid) ?? new Uint8Array();
  return { documents: [{ text: strictText(bytes, location), location }], extent: 'whole' };
}
