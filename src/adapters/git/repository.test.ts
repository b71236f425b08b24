// Tests checkouts from a real Git server for every kind of reference, and refusals. In one file, because all tests
// share the functions that serve and open small repositories.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everything, failureOf, open, serve, stateDir, textOf } from '../../../test/harness/git-client.ts';
import type { TestRepository } from '../../../test/harness/git-server.ts';

test('a checkout contains the files of the commit, sorted, and lists the skipped entries', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'b.yaml': 'b: 1\n', 'a/z.yaml': 'z: 1\n', 'a.yaml': 'a: 1\n', 'ünïcode.yaml': 'u: 1\n' });
  repository.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor/lib`);
  const link = repository.git('hash-object', '-w', 'a.yaml');
  repository.git('update-index', '--add', '--cacheinfo', `120000,${link},link.yaml`);
  repository.git('commit', '--quiet', '--message', 'links');
  repository.publish();
  const checkout = await open(`${server.url}/fleet.git`).fetch();
  expect(checkout.commit).toBe(repository.git('rev-parse', 'HEAD'));
  expect(checkout.files.map(({ path }) => path)).toEqual(['a.yaml', 'a/z.yaml', 'b.yaml', 'ünïcode.yaml']);
  expect(checkout.skipped).toEqual([
    { path: 'link.yaml', reason: 'symlink' },
    { path: 'vendor/lib', reason: 'submodule' },
  ]);
  expect(await textOf(checkout)).toMatchObject({ 'a/z.yaml': 'z: 1\n', 'ünïcode.yaml': 'u: 1\n' });
});

/**
 * Creates branch `main` with two commits, branch `feature/x`, and tags `light` and `signed` on the first commit of
 * `main`.
 */
function withRefs(repository: TestRepository): {
  readonly first: string;
  readonly second: string;
  readonly feature: string;
} {
  const first = repository.commit({ 'a.yaml': 'first' });
  repository.git('tag', 'light');
  repository.git('tag', '--annotate', 'signed', '--message', 'one');
  repository.git('tag', '--annotate', 'nested', 'signed', '--message', 'a tag of a tag');
  const second = repository.commit({ 'a.yaml': 'second' });
  repository.git('checkout', '--quiet', '-b', 'feature/x');
  const feature = repository.commit({ 'a.yaml': 'feature' });
  repository.git('checkout', '--quiet', 'main');
  return { first, second, feature };
}

test.each([
  { ref: {}, text: 'second', reason: 'nothing named: the default branch' },
  { ref: { branch: 'main' }, text: 'second', reason: 'a branch' },
  { ref: { branch: 'feature/x' }, text: 'feature', reason: 'a branch with a slash' },
  { ref: { tag: 'light' }, text: 'first', reason: 'a lightweight tag' },
  { ref: { tag: 'signed' }, text: 'first', reason: 'an annotated tag' },
  { ref: { tag: 'nested' }, text: 'first', reason: 'a tag of a tag' },
])('$ref is resolved: $reason', async ({ ref, text }) => {
  const server = await serve();
  withRefs(server.createRepository('fleet.git'));
  const checkout = await open(`${server.url}/fleet.git`, { ref }).fetch();
  expect(await textOf(checkout)).toEqual({ 'a.yaml': text });
});

test.each([
  { semver: '1.x', tag: 'v1.10.0', reason: 'ten is more than nine; the tag has a v, and is annotated' },
  { semver: '>=1.2 <1.10', tag: '1.9.3', reason: 'the tag has no v' },
  { semver: '*', tag: 'v2.0.0', reason: 'a prerelease of a higher version does not count' },
  { semver: '>=3.0.0-0', tag: 'v3.0.0-rc.2', reason: 'a range that names a prerelease takes one of the same version' },
  { semver: '~1.9.0', tag: '1.9.3', reason: 'a patch' },
  { semver: '1.2.0', tag: '1.2.0+b2', reason: 'of builds of one version the last' },
])('semver $semver selects tag $tag: $reason', async ({ semver, tag }) => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const names = ['1.2.0', '1.2.0+b1', '1.2.0+b2', '1.9.3', 'v1.9.2', 'v1.10.0', 'v2.0.0', 'v3.0.0-rc.1', 'v3.0.0-rc.2'];
  for (const name of [...names, 'latest', 'v9', 'team/9.9.9']) {
    repository.commit({ 'a.yaml': name });
    repository.git('tag', ...(name === 'v1.10.0' ? ['--annotate', '--message', 'x'] : []), name);
  }
  repository.publish();
  const opened = open(`${server.url}/fleet.git`, { ref: { semver } });
  expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': tag });
  const local = open(`file://${repository.dir}`, { ref: { semver }, allowFiles: true });
  expect(await textOf(await local.fetch())).toEqual({ 'a.yaml': tag });
  repository.git('--git-dir', repository.dir, 'pack-refs', '--all');
  expect(await textOf(await local.fetch())).toEqual({ 'a.yaml': tag });
});

test('a range follows new tags, returns to the previous tag if one is deleted, and fails without a matching tag', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const opened = open(`${server.url}/fleet.git`, { ref: { semver: '^1.0' } });
  repository.commit({ 'a.yaml': 'a' });
  const none = await failureOf(() => opened.fetch());
  expect([none.code, none.message]).toEqual([
    'git-ref-not-found',
    `${server.url}/fleet.git, semver "^1.0": none of its tags is a version of semver "^1.0"`,
  ]);
  for (const tag of ['v1.0.0', 'v1.1.0']) {
    repository.commit({ 'a.yaml': tag });
    repository.git('tag', tag);
    repository.publish();
    expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': tag });
  }
  repository.git('tag', '--delete', 'v1.1.0');
  repository.publish();
  expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'v1.0.0' });
});

test('a commit is fetched once, and later fetches send no request', async () => {
  const server = await serve();
  const { second } = withRefs(server.createRepository('fleet.git'));
  const dir = stateDir();
  const ref = { commit: second };
  expect(await textOf(await open(`${server.url}/fleet.git`, { ref, dir }).fetch())).toEqual({ 'a.yaml': 'second' });
  server.forget();
  expect((await open(`${server.url}/fleet.git`, { ref, dir }).fetch()).commit).toBe(second);
  expect(server.exchanges).toEqual([]);
});

test('an older commit of a branch is fetched', async () => {
  const server = await serve();
  const { first } = withRefs(server.createRepository('fleet.git'));
  expect((await open(`${server.url}/fleet.git`, { ref: { commit: first } }).fetch()).commit).toBe(first);
});

test('a commit that is not in a branch or tag is fetched only if the server allows it', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const { feature } = withRefs(repository);
  repository.git('push', '--quiet', repository.dir, ':feature/x');
  const url = `${server.url}/fleet.git`;
  const failure = await failureOf(() => open(url, { ref: { commit: feature } }).fetch());
  expect(failure.code).toBe('git-ref-not-found');
  expect(failure.message).toContain(`${url}, commit ${feature}: `);
  expect(failure.message).toContain('hands out only commits that a branch or tag leads to');
  repository.git('--git-dir', repository.dir, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  expect((await open(url, { ref: { commit: feature } }).fetch()).commit).toBe(feature);
});

test.each([
  { path: 'clusters/prod', files: ['clusters/prod/a.yaml', 'clusters/prod/sub/b.yaml'], reason: 'a folder' },
  { path: './clusters//prod/', files: ['clusters/prod/a.yaml', 'clusters/prod/sub/b.yaml'], reason: 'written loosely' },
  { path: 'clusters/prod/a.yaml', files: ['clusters/prod/a.yaml'], reason: 'a file' },
  {
    path: '.',
    files: ['clusters/prod/a.yaml', 'clusters/prod/sub/b.yaml', 'clusters/production/c.yaml'],
    reason: 'all',
  },
])('path $path limits the checkout: $reason', async ({ path, files }) => {
  const server = await serve();
  const content = { 'clusters/prod/a.yaml': 'a', 'clusters/prod/sub/b.yaml': 'b', 'clusters/production/c.yaml': 'c' };
  server.createRepository('fleet.git').commit(content);
  const checkout = await open(`${server.url}/fleet.git`, { path }).fetch();
  expect(checkout.files.map((file) => file.path)).toEqual(files);
});

test('a path that is not in the commit is a failure, not an empty checkout', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  for (const path of ['clusters', 'a.yaml/b']) {
    const failure = await failureOf(() => open(`${server.url}/fleet.git`, { path }).fetch());
    expect([failure.code, failure.message]).toEqual([
      'git-path-not-found',
      expect.stringContaining(`has no "${path}"`),
    ]);
  }
  expect(() => open(`${server.url}/fleet.git`, { path: 'a/../../b' })).toThrow('leads out of the repository');
});

test.each([{ ref: { branch: 'main' } }, { ref: { tag: 'v1' } }, { ref: { semver: '>=1.0.0' } }])(
  '$ref is fetched from a server whose HEAD names a branch that does not exist',
  async ({ ref }) => {
    const server = await serve();
    const repository = server.createRepository('fleet.git');
    const id = repository.commit({ 'a.yaml': 'a' });
    repository.git('tag', 'v1');
    repository.git('tag', 'v1.0.0');
    repository.publish();
    execFileSync('git', ['-C', repository.dir, 'symbolic-ref', 'HEAD', 'refs/heads/missing']);
    const fetched = await open(`${server.url}/fleet.git`, { ref }).fetch();
    expect([fetched.commit, await textOf(fetched)]).toEqual([id, { 'a.yaml': 'a' }]);
  },
);

test('a deleted branch and a deleted repository are failures, and earlier checkouts stay readable', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'a' });
  repository.git('branch', 'live');
  repository.publish();
  const url = `${server.url}/fleet.git`;
  const opened = open(url, { ref: { branch: 'live' } });
  const before = await opened.fetch();
  repository.git('branch', '--delete', 'live');
  repository.publish();
  expect(await failureOf(() => opened.fetch())).toMatchObject({
    code: 'git-ref-not-found',
    message: `${url}, branch "live": it has no branch "live"`,
    data: { url, ref: 'branch "live"' },
  });
  rmSync(repository.dir, { recursive: true });
  const gone = await failureOf(() => opened.fetch());
  expect([gone.code, gone.message]).toEqual([
    'git-not-a-repository',
    expect.stringContaining(`${url}, branch "live": `),
  ]);
  expect(await textOf(before)).toEqual({ 'a.yaml': 'a' });
});

test('an empty repository has no default branch', async () => {
  const server = await serve();
  server.createRepository('fleet.git');
  const failure = await failureOf(() => open(`${server.url}/fleet.git`).fetch());
  expect([failure.code, failure.message]).toEqual(['git-ref-not-found', expect.stringContaining('it is empty')]);
});

test('a repository with SHA-256 object ids is refused as unsupported', async () => {
  const server = await serve();
  const repository = server.createRepository('other.git');
  const bare = join(repository.dir, '../sha256.git');
  repository.git('init', '--quiet', '--bare', '--object-format=sha256', bare);
  const tree = repository.git('--git-dir', bare, 'mktree', '--missing');
  repository.git(
    '--git-dir',
    bare,
    'update-ref',
    'refs/heads/main',
    repository.git('--git-dir', bare, 'commit-tree', tree, '-m', 'x'),
  );
  repository.git('--git-dir', bare, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  const failure = await failureOf(() => open(`${server.url}/sha256.git`).fetch());
  expect(failure.code).toBe('git-unsupported-repository');
});

test('a file over the limit is reported with its path, and a transfer over the limit is stopped', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit({ 'small.yaml': 'a', 'big.bin': Buffer.alloc(300_000, 'x') });
  const checkout = await open(`${server.url}/fleet.git`, { limits: { maxObjectBytes: 200_000 } }).fetch();
  const failure = await failureOf(() => textOf(checkout));
  expect([failure.code, failure.message]).toEqual([
    'git-too-large',
    `${server.url}/fleet.git, the default branch: big.bin is larger than 200000 bytes`,
  ]);
  const cut = await failureOf(() => open(`${server.url}/fleet.git`, { limits: { maxPackBytes: 400 } }).fetch());
  expect(cut.code).toBe('git-too-large');
});

test.each([
  {
    repository: 'ssh://git@example.com/x.git',
    code: 'git-ssh-key-missing',
    says: 'ssh://example.com/x.git: ssh needs',
  },
  { repository: 'git@example.com:team/x.git', code: 'git-ssh-key-missing', says: 'example.com:team/x.git: ssh needs' },
  { repository: 'example.com:team/x.git', code: 'git-ssh-key-missing', says: 'example.com:team/x.git: ssh needs' },
  {
    repository: 'ssh://bot:hunter2@example.com/x.git',
    code: 'git-invalid-url',
    says: 'takes no password in the URL',
  },
  { repository: 'ssh://-oProxyCommand=x/x.git', code: 'git-invalid-url', says: 'begins with a dash' },
  { repository: '-oProxyCommand=x:x.git', code: 'git-invalid-url', says: 'begins with a dash' },
  { repository: 'git@example.com:-x.git', code: 'git-invalid-url', says: 'begins with a dash' },
  { repository: 'git@exa mple.com:x.git', code: 'git-invalid-url', says: 'is not a host name' },
  { repository: 'git@example.com:', code: 'git-invalid-url', says: 'is empty' },
  { repository: 'ssh://git@example.com/x.git?a', code: 'git-invalid-url', says: 'remove the query or fragment' },
  { repository: 'git://bot@example.com/x.git', code: 'git-invalid-url', says: 'no user: write git://host/path' },
  {
    repository: 'ftp://a:hunter2@example.com/x.git',
    code: 'git-transport-unsupported',
    says: 'ftp://example.com/x.git',
  },
  { repository: '/srv/git/x.git', code: 'git-invalid-url', says: 'write file:///srv/git/x.git' },
  { repository: 'x.git', code: 'git-invalid-url', says: '"x.git" is no URL' },
  { repository: '', code: 'git-invalid-url', says: 'is no URL' },
  { repository: 'https://bot:hunter2@', code: 'git-invalid-url', says: 'is no URL' },
  {
    repository: 'https://example.com/x.git?token=hunter2',
    code: 'git-invalid-url',
    says: 'remove the query or fragment',
  },
  { repository: 'https://a:%zz@example.com/x.git', code: 'git-invalid-url', says: 'write it as %25' },
  { repository: 'file:///srv/x.git', code: 'git-files-not-allowed', says: 'outbound.allowFiles' },
])('$repository is refused as $code', async ({ repository, code, says }) => {
  const failure = await failureOf(async () => open(repository));
  expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(says)]);
  expect(everything(failure.message)).not.toContain('hunter2');
});

test.each([
  { ref: { branch: 'a b' }, reason: 'a space' },
  { ref: { branch: 'a\nref-prefix b' }, reason: 'a line break' },
  { ref: { branch: '' }, reason: 'nothing' },
  { ref: { branch: 'a..b' }, reason: 'two dots' },
  { ref: { tag: '/v1' }, reason: 'a slash at the start' },
  { ref: { tag: 'v1.lock' }, reason: 'Git uses it for locks' },
  { ref: { commit: 'abc1234' }, reason: 'an abbreviated commit' },
  { ref: { branch: 'main', tag: 'v1' }, reason: 'two at once' },
])('$ref is refused: $reason', async ({ ref }) => {
  const failure = await failureOf(async () => open('https://example.com/x.git', { ref }));
  expect(failure.code).toBe('git-invalid-ref');
});
