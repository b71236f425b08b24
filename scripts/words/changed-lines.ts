// Reads from Git which lines of the working tree are not on the main branch.

import { spawnSync } from 'node:child_process';

/** Tells whether a line was changed since the merge base with main. Without Git or without main, no line was. */
export function changedLines(root: string): (place: { readonly path: string; readonly line: number }) => boolean {
  const base = ['origin/main', 'main']
    .map((branch) => git(root, ['merge-base', 'HEAD', branch]).trim())
    .find((commit) => commit !== '');
  const diff = git(root, ['diff', '-U0', '--no-color', '--no-ext-diff', base ?? 'HEAD', '--', 'src', 'docs']);
  const untracked = new Set(git(root, ['ls-files', '--others', '--exclude-standard', 'src', 'docs']).split('\n'));
  const hunks = readHunks(diff);
  return ({ path, line }) =>
    untracked.has(path) || (hunks.get(path) ?? []).some(({ first, last }) => line >= first && line <= last);
}

interface Hunk {
  readonly first: number;
  readonly last: number;
}

/** Lines that the new side has, by path. */
export function readHunks(diff: string): ReadonlyMap<string, readonly Hunk[]> {
  const hunks = new Map<string, Hunk[]>();
  let path = '';
  for (const line of diff.split('\n')) {
    path = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? path;
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (first === undefined || count === '0') continue;
    hunks.set(path, [...(hunks.get(path) ?? []), { first: Number(first), last: Number(first) + Number(count) - 1 }]);
  }
  return hunks;
}

function git(root: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return status === 0 ? stdout : '';
}
