// Tests the limits on the cost that hostile servers and authors can cause.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { failureOf, open, serve, stateDir, textOf } from '../../../test/harness/git-client.ts';
import { pktLine } from './transport/pkt-line.ts';

test('a server that sends a path instead of a commit id gets no further request', async () => {
  let asked = 0;
  const server = await serve({
    intercept: (request, response) => {
      if (request.method !== 'POST' || request.headers['git-protocol'] === undefined) return false;
      asked += 1;
      if (asked === 1) return false;
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      response.end(`${pktLine(`${'../'.repeat(30)}dev/zero refs/heads/main\n`)}0000`);
      return true;
    },
  });
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const opened = open(`${server.url}/fleet.git`, { ref: { branch: 'main' } });
  await opened.fetch();
  const failure = await failureOf(() => opened.fetch());
  expect([failure.code, failure.message]).toEqual([
    'git-protocol-error',
    expect.stringContaining('gives refs/heads/main no commit but another text'),
  ]);
});

test.each([
  { what: 'a name', length: 5000, depth: 1 },
  { what: 'many names', length: 200, depth: 25 },
])('a path of more than 4096 characters is refused: $what', async ({ length, depth }) => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'a' });
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', repository.dir, ...args], { input, env: AUTHOR })
      .toString()
      .trim();
  let entry = `100644 blob ${git(['hash-object', '-w', '--stdin'], 'x')}`;
  for (let level = 0; level < depth; level += 1)
    entry = `040000 tree ${git(['mktree'], `${entry}\t${'n'.repeat(length)}\n`)}`;
  git(['update-ref', 'refs/heads/main', git(['commit-tree', '-m', 'long', entry.split(' ')[2] ?? ''])]);
  const failure = await failureOf(() => open(`${server.url}/fleet.git`).fetch());
  expect([failure.code, failure.message]).toEqual([
    'git-too-large',
    expect.stringContaining('has a path of more than 4096 characters'),
  ]);
});

const AUTHOR = {
  PATH: process.env.PATH,
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

test('a file that is too large to be sent as a delta is sent completely', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const large = Buffer.alloc(129 * 1024 * 1024);
  repository.commit({ 'fleet/a.yaml': 'a', 'other/large.bin': large });
  const options = { path: 'fleet', dir: stateDir() };
  await open(`${server.url}/fleet.git`, options).fetch();
  large.write('changed', large.length / 2);
  repository.commit({ 'fleet/a.yaml': 'b', 'other/large.bin': large });
  // The commit takes longer than the keep-alive of connections, so the repository is opened again, as in another
  // process.
  expect(await textOf(await open(`${server.url}/fleet.git`, options).fetch())).toEqual({ 'fleet/a.yaml': 'b' });
});
