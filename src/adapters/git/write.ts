// Creates a new repository with one commit, for people who continue with plain git. Needs no git binary.

import fs from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '#std/failure.ts';
import { gitPackage } from './package.ts';
import { useFolder } from './state.ts';

export interface NewFile {
  /** Relative path with `/` as separator. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

export interface NewCommit {
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  /** Seconds since 1970. The time zone is UTC. */
  readonly timestamp: number;
}

/**
 * Creates `dir` as a repository with a work tree, branch `main`, the files and one commit. Returns the commit id, which
 * depends only on the arguments. Throws Failure `git-already-exists` if the folder is not empty.
 */
export async function writeRepository(dir: string, files: readonly NewFile[], commit: NewCommit): Promise<string> {
  return useFolder(dir, async () => {
    if ((await readdir(dir)).length > 0) {
      throw new Failure('git-already-exists', `${dir} is not empty`, { data: { path: dir } });
    }
    await gitPackage().init({ fs, dir, defaultBranch: 'main' });
    for (const { path, content } of files) {
      const file = join(dir, ...path.split('/'));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    await gitPackage().add({ fs, dir, filepath: files.map(({ path }) => path) });
    // `git commit` must work even if the user has not configured a name.
    await gitPackage().setConfig({ fs, dir, path: 'user.name', value: commit.author.name });
    await gitPackage().setConfig({ fs, dir, path: 'user.email', value: commit.author.email });
    const author = { ...commit.author, timestamp: commit.timestamp, timezoneOffset: 0 };
    return gitPackage().commit({ fs, dir, message: commit.message, author, committer: author, ref: 'refs/heads/main' });
  });
}
