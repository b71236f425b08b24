// Tests that the commits to compare are resolved as git resolves them, with git's merge base.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createRepository, type TestRepository, temporaryFolder } from '../../../test/harness/git-server.ts';
import { seeded } from '../../../test/harness/random.ts';
import { readComparedCommits } from './compared-commits.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function folder(): string {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return path;
}

interface Made {
  readonly parents: readonly number[];
  readonly date: number;
}

/** Imports the commits. Each has its own branch: `c0`, `c1` and so on. */
function importHistory(commits: readonly Made[]): TestRepository {
  const repository = createRepository(folder());
  const lines = commits.flatMap(({ parents, date }, index) => [
    `commit refs/heads/c${index}`,
    `mark :${index + 1}`,
    `committer Test <test@example.com> ${date} +0000`,
    'data 0',
    ...parents.map((parent, position) => `${position === 0 ? 'from' : 'merge'} :${parent + 1}`),
    '',
  ]);
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repository.dir, input: `${lines.join('\n')}\n` });
  return repository;
}

async function baseOf(dir: string, base: string, head: string): Promise<string> {
  const commits = await readComparedCommits(dir, { base, head });
  return commits.base.commit;
}

async function codeOf(run: () => Promise<unknown>): Promise<unknown> {
  return run().then(
    () => 'none',
    (failure) => failure.code,
  );
}

test('a branch is compared with the commit at which it diverged from the base branch', async () => {
  const repository = createRepository(folder());
  const met = repository.commit({ a: '1' });
  repository.git('checkout', '--quiet', '-b', 'topic');
  for (const content of ['2', '3', '4']) repository.commit({ b: content });
  const head = repository.git('rev-parse', 'HEAD');
  repository.git('checkout', '--quiet', 'main');
  repository.commit({ a: '2' });
  const found = await readComparedCommits(repository.dir, { base: 'main', head: 'topic' });
  expect([found.base.commit, found.head.commit]).toEqual([met, head]);
  expect(found.head.files.map(({ path }) => path)).toEqual(['a', 'b']);
});

test('names are resolved as by git: tags, branches, remote-tracking branches, commits and full names', async () => {
  const origin = createRepository(folder());
  const first = origin.commit({ a: '1' });
  origin.git('tag', '--annotate', 'v1', '--message', 'v1');
  origin.git('checkout', '--quiet', '-b', 'topic/x');
  const second = origin.commit({ a: '2' });
  const clone = join(folder(), 'clone');
  execFileSync('git', ['clone', '--quiet', origin.dir, clone]);
  execFileSync('git', ['pack-refs', '--all'], { cwd: clone });
  for (const base of ['main', 'origin/main', 'refs/remotes/origin/main', 'v1', first, first.toUpperCase()])
    expect(await baseOf(clone, base, 'HEAD'), base).toBe(first);
  expect(await baseOf(clone, 'topic/x', 'origin/topic/x')).toBe(second);
});

test('unknown names and invalid names are refused', async () => {
  const repository = createRepository(folder());
  repository.commit({ a: '1' });
  const codes = await Promise.all(
    ['absent', 'f'.repeat(40), '../../etc/passwd', 'main~1', ''].map((base) =>
      codeOf(() => baseOf(repository.dir, base, 'HEAD')),
    ),
  );
  expect(codes).toEqual([
    'git-ref-not-found',
    'git-ref-not-found',
    'git-invalid-ref',
    'git-invalid-ref',
    'git-invalid-ref',
  ]);
  expect(await codeOf(() => baseOf(folder(), 'main', 'HEAD'))).toBe('git-not-a-repository');
});

test('a shallow clone without the merge base fails instead of comparing with another commit', async () => {
  const origin = createRepository(folder());
  origin.commit({ a: '1' });
  origin.git('checkout', '--quiet', '-b', 'topic');
  origin.commit({ b: '1' });
  origin.git('checkout', '--quiet', 'main');
  origin.commit({ a: '2' });
  const clone = join(folder(), 'clone');
  execFileSync('git', ['clone', '--quiet', '--depth=1', '--no-single-branch', `file://${origin.dir}`, clone]);
  expect(await codeOf(() => baseOf(clone, 'origin/main', 'origin/topic'))).toBe('git-history-missing');
});

test('the merge base is one of the merge bases of git, for 60 pairs in histories with merges', async () => {
  const random = seeded(52);
  for (let round = 0; round < 6; round += 1) {
    const commits = Array.from({ length: 24 }, (_, index): Made => {
      const parents = new Set(index === 0 ? [] : [index - 1 - random.integer(Math.min(index, 4))]);
      if (index > 1 && random.chance(0.3)) parents.add(random.integer(index));
      return { parents: [...parents], date: 1_700_000_000 + index };
    });
    const repository = importHistory(commits);
    for (let pair = 0; pair < 10; pair += 1) {
      const [one, other] = [`c${random.integer(24)}`, `c${random.integer(24)}`];
      const all = repository.git('merge-base', '--all', one, other).split('\n');
      expect(all, `${one} ${other}`).toContain(await baseOf(repository.dir, one, other));
    }
  }
});

test('the merge base in a linear history is the older commit, even if the dates are wrong', async () => {
  const dates = [50, 90, 10, 70, 30, 80, 20];
  const commits = dates.map((date, index): Made => ({ parents: index === 0 ? [] : [index - 1], date: 1e9 + date }));
  const repository = importHistory(commits);
  for (const index of dates.keys())
    expect(await baseOf(repository.dir, `c${index}`, 'c6')).toBe(repository.git('rev-parse', `c${index}`));
});
