// Tests that problems of real repositories are handled or reported: rewritten histories, repacking during a read, refs
// that move during a fetch, copies that lack objects, large sizes.

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  failureOf,
  manyFiles,
  open,
  serve,
  serveDaemon,
  stateDir,
  textOf,
  transferred,
} from '../../../test/harness/git-client.ts';
import { createRepository, type TestRepository } from '../../../test/harness/git-server.ts';

/** True for the request for objects. The request for refs uses protocol version 2. */
function asksForObjects({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && headers['git-protocol'] === undefined;
}

function served({ dir }: TestRepository, ...args: readonly string[]): void {
  execFileSync('git', ['--git-dir', dir, ...args], { stdio: ['ignore', 'ignore', 'ignore'] });
}

test('a branch with an unrelated new history is fetched, even after the server has pruned the old history', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ ...manyFiles(), 'a.yaml': 'old' });
  const followed = open(`${server.url}/fleet.git`, { ref: { branch: 'main' } });
  const before = await followed.fetch();
  repository.git('checkout', '--quiet', '--orphan', 'other');
  repository.git('branch', '--delete', '--force', 'main');
  repository.git('branch', '--move', 'main');
  const commit = repository.commit({ 'a.yaml': 'new' });
  served(repository, 'reflog', 'expire', '--expire=now', '--all');
  served(repository, 'gc', '--prune=now', '--quiet');
  const after = await followed.fetch();
  expect(after.commit).toBe(commit);
  expect(await textOf(after)).toMatchObject({ 'a.yaml': 'new' });
  expect(await textOf(before)).toMatchObject({ 'a.yaml': 'old' });
});

test('after a repack on the server, nothing is transferred again', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit(manyFiles());
  const followed = open(`${server.url}/fleet.git`);
  await followed.fetch();
  served(repository, 'repack', '-adfq', '--depth=50', '--window=50');
  server.forget();
  await followed.fetch();
  expect(transferred(server)).toBeLessThan(500);
  repository.commit({ 'd3/f3.yaml': 'changed: 1\n' });
  expect(await textOf(await followed.fetch())).toMatchObject({ 'd3/f3.yaml': 'changed: 1\n' });
  expect(transferred(server)).toBeLessThan(6_000);
});

test('a branch that moves between two requests is fetched, and a branch that disappears is a failure', async () => {
  let between: (() => void) | undefined;
  const server = await serve({
    intercept: (request) => {
      if (asksForObjects(request)) between?.();
      between = asksForObjects(request) ? undefined : between;
      return false;
    },
  });
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'first' });
  const followed = open(`${server.url}/fleet.git`, { ref: { branch: 'main' } });
  await followed.fetch();
  const steps: readonly (readonly [string, string, () => void])[] = [
    ['moved on', 'moved on', () => void repository.commit({ 'a.yaml': 'third' })],
    [
      'forced back',
      'third',
      () => {
        repository.git('reset', '--quiet', '--hard', 'HEAD~1');
        repository.publish();
      },
    ],
  ];
  for (const [name, expected, step] of steps) {
    repository.commit({ 'a.yaml': name });
    between = step;
    expect(await textOf(await followed.fetch())).toEqual({ 'a.yaml': expected });
    expect((await followed.fetch()).commit).toBe(repository.git('rev-parse', 'HEAD'));
  }
  repository.commit({ 'a.yaml': 'last' });
  between = () => {
    served(repository, 'symbolic-ref', 'HEAD', 'refs/heads/elsewhere');
    repository.git('checkout', '--quiet', '--orphan', 'elsewhere');
    repository.git('branch', '--delete', '--force', 'main');
    repository.commit({ 'b.yaml': 'b' });
    served(repository, 'reflog', 'expire', '--expire=now', '--all');
    served(repository, 'gc', '--prune=now', '--quiet');
  };
  expect((await failureOf(() => followed.fetch())).message).toContain('it has no branch "main"');
});

test('commits are fetched from a server whose repository is shallow', async () => {
  const server = await serveDaemon();
  const origin = createRepository(join(server.root, 'origin'));
  for (const text of ['first', 'second', 'third']) origin.commit({ 'a.yaml': text });
  origin.git('clone', '--quiet', '--bare', '--depth', '2', `file://${origin.dir}`, join(server.root, 'shallow.git'));
  const checkout = await open(`git://127.0.0.1:${server.port}/shallow.git`).fetch();
  expect(await textOf(checkout)).toEqual({ 'a.yaml': 'third' });
  const local = open(`file://${join(server.root, 'shallow.git')}`, { allowFiles: true });
  expect(await textOf(await local.fetch())).toEqual({ 'a.yaml': 'third' });
  const beyond = { ref: { commit: origin.git('rev-parse', 'HEAD~2') } };
  const failure = await failureOf(() => open(`git://127.0.0.1:${server.port}/shallow.git`, beyond).fetch());
  expect(failure.code).toBe('git-ref-not-found');
});

test('the message about a local copy that lacks files names the missing object', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  served(repository, 'config', 'uploadpack.allowFilter', 'true');
  repository.commit({ 'a.yaml': 'a' });
  const partial = join(repository.dir, '..', 'partial.git');
  repository.git('clone', '--quiet', '--bare', '--filter=blob:none', `file://${repository.dir}`, partial);
  const checkout = await open(`file://${partial}`, { allowFiles: true }).fetch();
  const failure = await failureOf(() => textOf(checkout));
  expect([failure.code, failure.message]).toEqual([
    'git-damaged',
    expect.stringContaining(`file content ${checkout.files[0]?.oid} is missing`),
  ]);
});

test.each([
  { path: 'linked', says: '"linked" is a symlink, which is not followed' },
  { path: 'linked/prod', says: '"linked" is a symlink, which is not followed' },
  { path: 'clusters/vendored/prod', says: '"vendored" is a submodule, which is not followed' },
  { path: 'a.yaml/prod', says: '"a.yaml" is a file' },
])('path $path is refused: $says', async ({ path, says }) => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'a' });
  const link = repository.git('hash-object', '-w', 'a.yaml');
  repository.git('update-index', '--add', '--cacheinfo', `120000,${link},linked`);
  repository.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},clusters/vendored`);
  repository.git('commit', '--quiet', '--message', 'links');
  repository.publish();
  const failure = await failureOf(() => open(`${server.url}/fleet.git`, { path }).fetch());
  expect([failure.code, failure.message]).toEqual(['git-path-not-found', expect.stringContaining(says)]);
});

test('a file far over the limit causes a failure only if it is read', async () => {
  const server = await serve();
  const huge = Buffer.alloc(40 * 1024 * 1024, 'x');
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a', 'image.iso': huge });
  const checkout = await open(`${server.url}/fleet.git`).fetch();
  const oids = Object.fromEntries(checkout.files.map(({ path, oid }) => [path, oid]));
  expect(await checkout.read([oids['a.yaml'] ?? ''])).toHaveLength(1);
  const failure = await failureOf(() => checkout.read([oids['image.iso'] ?? '']));
  expect([failure.code, failure.message]).toEqual([
    'git-too-large',
    expect.stringContaining('image.iso is larger than 33554432 bytes'),
  ]);
});

test('50,000 files are listed and read, and then a change of one file is fetched', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  importFiles(repository, 50_000);
  const followed = open(`${server.url}/fleet.git`, { ref: { branch: 'main' }, dir: stateDir() });
  const checkout = await followed.fetch();
  expect(checkout.files).toHaveLength(50_000);
  const contents = await checkout.read(checkout.files.map(({ oid }) => oid));
  expect(contents.size).toBe(5_000);
  repository.git('pull', '--quiet', repository.dir, 'main');
  repository.commit({ 'd3/f3.yaml': 'changed: 1\n' });
  server.forget();
  const after = await followed.fetch();
  expect(transferred(server)).toBeLessThan(10_000);
  const changed = after.files.filter(({ oid }, index) => oid !== checkout.files[index]?.oid);
  expect(changed.map(({ path }) => path)).toEqual(['d3/f3.yaml']);
}, 120_000);

/** Creates files in 500 folders with 5,000 different contents. */
function importFiles({ dir }: TestRepository, count: number): void {
  const lines = ['commit refs/heads/main', 'committer Test <test@example.com> 1700000000 +0000', 'data 1', 'x'];
  for (let index = 0; index < count; index += 1) {
    const content = `k: ${Math.imul(index % 5_000, 2_654_435_761) >>> 0}\n`;
    lines.push(`M 100644 inline d${index % 500}/f${index}.yaml`, `data ${content.length}`, content);
  }
  const done = spawnSync('git', ['--git-dir', dir, 'fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  expect([done.status, done.stderr.toString()]).toEqual([0, '']);
}

test('a proxy in the configuration of the local copy is not used', async () => {
  const server = await serve();
  const fleet = server.createRepository('fleet.git');
  fleet.commit({ 'a.yaml': 'one' });
  const dir = stateDir();
  const follow = () => open(`${server.url}/fleet.git`, { dir, ref: { branch: 'main' } });
  await follow().fetch();
  const copy = join(dir, readFileSync(join(dir, 'current'), 'utf8').trim());
  appendFileSync(join(copy, 'config'), '\n[http]\n\tcorsProxy = http://127.0.0.1:1\n');
  fleet.commit({ 'a.yaml': 'two' });
  expect(await textOf(await follow().fetch())).toEqual({ 'a.yaml': 'two' });
});
