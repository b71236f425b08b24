// Which commit of a repository is meant, and where its local copy is kept. Knows nothing about what is read from it.

import { join } from 'node:path';
import type { GitOptions } from '../adapters/git/repository.ts';
import { sha256 } from '../std/hash.ts';

export interface GitSource {
  readonly repository: string;
  readonly branch?: string | undefined;
  readonly tag?: string | undefined;
  readonly semver?: string | undefined;
  readonly commit?: string | undefined;
  readonly path: string;
}

/** `dir`: where all local copies are. */
export function gitPlace(dir: string, source: GitSource): Pick<GitOptions, 'repository' | 'ref' | 'dir'> {
  const { repository, branch, tag, semver, commit, path } = source;
  const ref = {
    ...(branch === undefined ? {} : { branch }),
    ...(tag === undefined ? {} : { tag }),
    ...(semver === undefined ? {} : { semver }),
    ...(commit === undefined ? {} : { commit }),
  };
  const copy = sha256(JSON.stringify([repository, ref, path])).slice(0, 16);
  return { repository, ref, dir: join(dir, copy) };
}
