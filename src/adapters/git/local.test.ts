// Tests repositories in folders. Reads every layout of git, without the program git, and compares the results with
// git's.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { Repository } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { createRepository, type TestRepository, temporaryFolder } from '../../../test/harness/git-server.ts';
import { createOutbound } from '../http/outbound.ts';
import type { GitRef } from './reference.ts';
import { openRepository } from './repository.ts';
import { writeRepository } from './write.ts';

const cleanups: (() => void)[] = [];
const outbound = createOutbound({ allowPrivate: [], version: '0' });

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function folder(): string {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return path;
}

function open(path: string, ref: GitRef = {}): Repository {
  const dir = '/nonexistent/never-used';
  return openRepository({ repository: `file://${path}`, ref, dir, outbound, allowFiles: true, clock: systemClock });
}

async function contents(repository: Repository): Promise<Record<string, string>> {
  const { files, read } = await repository.fetch();
  const blobs = await read(files.map(({ oid }) => oid));
  return Object.fromEntries(files.map(({ path, oid }) => [path, Buffer.from(blobs.get(oid) ?? []).toString()]));
}

async function failureOf(run: () => Promise<unknown>): Promise<string> {
  const answer = await run().catch((error: unknown) => error);
  return answer instanceof Failure ? `${answer.code} ${answer.message}` : JSON.stringify(answer);
}

/** Returns the files as git itself reads them. */
function expected(repository: TestRepository, commit: string): Record<string, string> {
  const paths = repository
    .git('ls-tree', '-r', '--name-only', '-z', commit)
    .split('\0')
    .filter((path) => path !== '');
  return Object.fromEntries(paths.map((path) => [path, repository.git('cat-file', 'blob', `${commit}:${path}`)]));
}

/** Creates a history in which files grow, shrink and move, so that packing creates deltas of deltas. */
function longHistory(repository: TestRepository): void {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index}: ${Math.imul(index, 2_654_435_761) >>> 0}`);
  for (let round = 0; round < 25; round += 1) {
    lines.splice(round * 3, round % 4, `inserted ${round}`);
    const text = lines.join('\n');
    repository.commit({
      'long.txt': text,
      [`copy/${round}.txt`]: `${text.slice(round * 100)} ${round}`,
      [`small/${round}`]: `${round}`,
    });
  }
}

const layouts: Record<string, (repository: TestRepository) => void> = {
  'loose objects': () => undefined,
  'one pack with offset deltas': ({ git }) => git('repack', '-adfq', '--depth=50', '--window=50'),
  'one pack with deltas by name': ({ git }) =>
    git('-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq', '--depth=50'),
  'everything that gc does': ({ git }) => git('gc', '--quiet', '--aggressive', '--prune=now'),
  'packs of several times and loose objects': (repository) => {
    repository.git('repack', '-dq');
    repository.commit({ 'later.txt': 'packed later' });
    repository.git('repack', '-dq');
    repository.commit({ 'last.txt': 'loose' });
  },
  'refs packed into one file': ({ git }) => git('pack-refs', '--all'),
};

test.each(Object.keys(layouts))('every file of every commit is read as by git: %s', async (layout) => {
  const repository = createRepository(join(folder(), 'work'));
  longHistory(repository);
  layouts[layout]?.(repository);
  for (const commit of repository
    .git('rev-list', '--all')
    .split('\n')
    .filter((_, index) => index % 6 === 0)) {
    const found = await contents(open(repository.dir, { commit }));
    const trimmed = Object.fromEntries(Object.entries(found).map(([path, text]) => [path, text.trim()]));
    expect(trimmed).toEqual(expected(repository, commit));
  }
  expect((await open(repository.dir, { branch: 'main' }).fetch()).commit).toBe(repository.git('rev-parse', 'main'));
});

test('bare repositories, linked work trees and alternates are read', async () => {
  const root = folder();
  const repository = createRepository(join(root, 'work'), join(root, 'bare.git'));
  repository.commit({ 'a.yaml': 'one' });
  repository.git('branch', 'side');
  repository.git('worktree', 'add', '--quiet', join(root, 'linked'), 'side');
  repository.commit({ 'a.yaml': 'two' });
  repository.git('clone', '--quiet', '--shared', '--bare', repository.dir, join(root, 'borrower.git'));
  expect(await contents(open(join(root, 'bare.git')))).toEqual({ 'a.yaml': 'two' });
  expect(await contents(open(join(root, 'linked')))).toEqual({ 'a.yaml': 'one' });
  expect(await contents(open(join(root, 'linked'), { branch: 'main' }))).toEqual({ 'a.yaml': 'two' });
  expect(await contents(open(join(root, 'borrower.git')))).toEqual({ 'a.yaml': 'two' });
});

test('a commit made with git is visible to the next fetch', async () => {
  const repository = createRepository(join(folder(), 'work'));
  repository.commit({ 'a.yaml': 'one' });
  const opened = open(repository.dir);
  expect(await contents(opened)).toEqual({ 'a.yaml': 'one' });
  const second = repository.commit({ 'b.yaml': 'two' });
  expect((await opened.fetch()).commit).toBe(second);
  expect(await contents(opened)).toEqual({ 'a.yaml': 'one', 'b.yaml': 'two' });
});

test('the message about a missing ref or repository names it', async () => {
  const repository = createRepository(join(folder(), 'work'));
  const empty = `${repository.dir}/empty`;
  expect(await failureOf(() => open(repository.dir).fetch())).toBe(
    `git-ref-not-found file://${repository.dir}, the default branch: it is empty: it has no default branch`,
  );
  repository.commit({ 'a.yaml': 'one' });
  const rows = [
    { opened: open(empty), says: 'git-not-a-repository' },
    { opened: open(repository.dir, { branch: 'nope' }), says: 'git-ref-not-found' },
    { opened: open(repository.dir, { tag: 'main' }), says: 'git-ref-not-found' },
    { opened: open(repository.dir, { commit: '1'.repeat(40) }), says: 'git-ref-not-found' },
    {
      opened: open(repository.dir, { commit: repository.git('rev-parse', 'HEAD^{tree}') }),
      says: 'is a tree, not a commit',
    },
  ];
  for (const { opened, says } of rows) expect(await failureOf(() => opened.fetch())).toContain(says);
});

test('the message about a damaged or missing object names the object and the repository', async () => {
  const repository = createRepository(join(folder(), 'work'));
  repository.commit({ 'a.yaml': 'one', 'b.yaml': 'two' });
  const checkout = await open(repository.dir).fetch();
  const [a, b] = checkout.files.map(({ oid }) => join(repository.dir, '.git/objects', oid.slice(0, 2), oid.slice(2)));
  rmSync(a ?? '', { force: true });
  const failure = await failureOf(() => checkout.read(checkout.files.slice(0, 1).map(({ oid }) => oid)));
  expect(failure).toContain(`git-damaged file://${repository.dir}, the default branch: file content`);
  renameSync(b ?? '', a ?? '');
  const swapped = await failureOf(() => checkout.read(checkout.files.slice(0, 1).map(({ oid }) => oid)));
  expect(swapped).toContain('cannot be read');
});

test('repositories with an unsupported format are refused', async () => {
  const root = folder();
  const repository = createRepository(join(root, 'work'));
  repository.git('init', '--quiet', '--object-format=sha256', join(root, 'sha256'));
  expect(await failureOf(() => open(join(root, 'sha256')).fetch())).toContain('git-unsupported-repository');
});

const files = [
  { path: 'README.md', content: '# Fleet\n' },
  { path: 'clusters/dev/servers.yaml', content: 'kind: MCPServer\n' },
  { path: 'data/bytes.bin', content: Uint8Array.of(0, 255, 10, 13) },
];
const commit = { message: 'A fleet', author: { name: 'Skep', email: 'skep@example.com' }, timestamp: 1_767_225_600 };

test('git reports a written repository as clean, and the commit depends only on the input', async () => {
  const [one, two] = [join(folder(), 'fleet'), join(folder(), 'fleet')];
  const oids = [await writeRepository(one, files, commit), await writeRepository(two, files, commit)];
  const { git } = createRepository(folder());
  const at = (...args: string[]) => git('-C', one, ...args);
  expect(oids).toEqual([at('rev-parse', 'main'), at('rev-parse', 'HEAD')]);
  expect([at('status', '--porcelain', '--branch'), at('fsck', '--strict', '--full')]).toEqual(['## main', '']);
  expect(at('log', '--format=%an <%ae> %at %ct %s')).toBe('Skep <skep@example.com> 1767225600 1767225600 A fleet');
  expect(at('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toEqual(files.map(({ path }) => path));
});

test('changes that a user makes with git in a written repository are read', async () => {
  const dir = join(folder(), 'fleet');
  await writeRepository(dir, files, commit);
  const opened = open(dir, { branch: 'main' });
  expect(await contents(opened)).toMatchObject({ 'README.md': '# Fleet\n' });
  const { git } = createRepository(folder());
  writeFileSync(join(dir, 'README.md'), '# My fleet\n');
  git('-C', dir, 'commit', '--quiet', '--all', '--message', 'mine');
  expect(await contents(opened)).toMatchObject({
    'README.md': '# My fleet\n',
    'clusters/dev/servers.yaml': 'kind: MCPServer\n',
  });
  git('-C', dir, 'gc', '--quiet');
  expect(await contents(opened)).toMatchObject({ 'README.md': '# My fleet\n' });
});

test('a repository is not written over existing files', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'mine.txt'), 'mine');
  expect(await failureOf(() => writeRepository(dir, files, commit))).toBe(`git-already-exists ${dir} is not empty`);
});
