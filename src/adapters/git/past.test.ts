// Tests that past commits are read without the server, or from a server that sends no commits by id. Also tests the
// history before a commit.

import { expect, test } from 'vitest';
import { failureOf, open, serve, stateDir, textOf } from '../../../test/harness/git-client.ts';

const BRANCH = { ref: { branch: 'main' } };

test('an earlier commit is read from the local copy while the server is down, and the branch is followed afterwards', async () => {
  let down = false;
  const server = await serve({
    intercept: (_request, response) => {
      if (down) response.writeHead(503).end();
      return down;
    },
  });
  const fleet = server.createRepository('fleet.git');
  const dir = stateDir();
  const repository = open(`${server.url}/fleet.git`, { ...BRANCH, dir });
  const good = fleet.commit({ 'a.yaml': 'n: 1\n', 'b.yaml': 'n: 1\n' });
  await repository.fetch();
  const bad = fleet.commit({ 'a.yaml': 'n: 2\n' });
  expect((await repository.fetch()).commit).toBe(bad);
  down = true;
  for (const each of [repository, open(`${server.url}/fleet.git`, { ...BRANCH, dir })]) {
    const checkout = await each.at(good);
    expect([checkout.commit, await textOf(checkout)]).toEqual([good, { 'a.yaml': 'n: 1\n', 'b.yaml': 'n: 1\n' }]);
  }
  expect((await failureOf(() => repository.fetch())).code).toBe('git-unreachable');
  down = false;
  const newer = fleet.commit({ 'b.yaml': 'n: 3\n' });
  expect((await repository.fetch()).commit).toBe(newer);
  expect(await textOf(await repository.fetch())).toEqual({ 'a.yaml': 'n: 2\n', 'b.yaml': 'n: 3\n' });
});

test('if a server sends no commits by id, a commit is read from the history of its branch', async () => {
  const server = await serve();
  const fleet = server.createRepository('fleet.git');
  const commits = [1, 2, 3, 4].map((n) => fleet.commit({ 'a.yaml': `n: ${n}\n` }));
  const [first = '', second = '', third = '', fourth = ''] = commits;
  const repository = open(`${server.url}/fleet.git`, BRANCH);
  expect(await repository.ancestors(fourth, 500)).toEqual([third, second, first]);
  expect(await repository.ancestors(fourth, 2)).toEqual([third, second]);
  expect(await textOf(await repository.at(second))).toEqual({ 'a.yaml': 'n: 2\n' });
  expect(await textOf(await repository.fetch())).toEqual({ 'a.yaml': 'n: 4\n' });
  expect(await textOf(await repository.at(first))).toEqual({ 'a.yaml': 'n: 1\n' });
});

test('a commit that neither the server nor the local copy has is not found', async () => {
  const server = await serve();
  const fleet = server.createRepository('fleet.git');
  fleet.commit({ 'a.yaml': 'n: 1\n' });
  const repository = open(`${server.url}/fleet.git`, BRANCH);
  await repository.fetch();
  const failure = await failureOf(() => repository.at('0123456789012345678901234567890123456789'));
  expect(failure.code).toBe('git-ref-not-found');
  expect((await repository.fetch()).files.map(({ path }) => path)).toEqual(['a.yaml']);
});

test('the history of a merge contains both parents, nearest first, from a server and from a local folder', async () => {
  const server = await serve();
  const fleet = server.createRepository('fleet.git');
  const base = fleet.commit({ 'a.yaml': 'n: 1\n' });
  fleet.git('checkout', '--quiet', '-b', 'side');
  const side = fleet.commit({ 'b.yaml': 'n: 1\n' });
  fleet.git('checkout', '--quiet', 'main');
  const main = fleet.commit({ 'a.yaml': 'n: 2\n' });
  fleet.git('merge', '--quiet', '--no-edit', 'side');
  fleet.publish();
  const merge = fleet.git('rev-parse', 'HEAD');
  const remote = open(`${server.url}/fleet.git`, BRANCH);
  const local = open(`file://${fleet.dir}`, { ...BRANCH, allowFiles: true });
  for (const repository of [remote, local]) {
    expect(await repository.ancestors(merge, 500)).toEqual([main, side, base]);
    expect((await repository.at(side)).commit).toBe(side);
  }
});
