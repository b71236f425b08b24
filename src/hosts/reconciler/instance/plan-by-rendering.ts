// Implements `skep plan --render`: compares two commits of the current directory's repository, without skep.yaml and
// without a cluster.

import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { relative, resolve, sep } from 'node:path';
import { readComparedCommits } from '#adapters/git/compared-commits.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { planByRendering } from '#reconciler/run/render/render-plan.ts';
import { hasPath } from '#reconciler/run/render/side.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import { DEFAULT_API_GROUP } from '../../config/api-group.ts';
import { repositoryAbove } from '../folder-tree.ts';
import { openLoadCache } from '../kept/load-cache.ts';
import { kustomizeHere } from '../kustomize-here.ts';

export interface RenderFlags {
  /** Paths of folders in the repository, relative to the current directory. */
  readonly paths: readonly string[];
  readonly base: string;
  readonly head: string;
}

/** Throws Failure `usage`, and Failures of reading the repository. */
export async function planTwoCommits({ paths, base, head }: RenderFlags): Promise<RunResult> {
  const here = realpathSync(process.cwd());
  const root = repositoryAbove(here);
  if (root === undefined) {
    throw new Failure(
      'usage',
      `${here} is not in a Git repository: run skep plan --render in the checkout that is to be compared`,
    );
  }
  const inside = [...new Set(paths.map((path) => pathInside(root, path)))];
  const commits = await readComparedCommits(root, { base, head });
  for (const path of inside) {
    if (hasPath(commits.base, path) || hasPath(commits.head, path)) continue;
    const message = `neither ${base} nor ${head} has files below "${path}": name a folder with manifests (--path is relative to the current directory)`;
    throw new Failure('usage', message);
  }
  return planByRendering({
    kinds: KINDS,
    apiGroup: DEFAULT_API_GROUP,
    cache: openLoadCache(),
    kustomize: kustomizeHere(tmpdir()),
    paths: inside,
    base: { name: base, checkout: commits.base },
    head: { name: head, checkout: commits.head },
    now: new Date(systemClock.now()).toISOString(),
  });
}

function pathInside(root: string, path: string): string {
  const inside = relative(root, resolve(realpathSync(process.cwd()), path))
    .split(sep)
    .join('/');
  if (inside !== '..' && !inside.startsWith('../')) return inside;
  throw new Failure('usage', `--path ${path} is outside of the repository ${root}: name a folder inside it`);
}
