// Whose credentials a repository is fetched with.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { failureOf, serve, stateDir } from '../../../test/harness/git-client.ts';
import { temporaryFolder } from '../../../test/harness/git-server.ts';
import { createOutbound } from '../../adapters/http/outbound.ts';
import { systemClock } from '../clock.ts';
import { type GitDeps, openGit } from './repositories.ts';

const folder = temporaryFolder();
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });

afterEach(async () => {
  await outbound.close();
  folder.remove();
});

test('a source without credentials of its own has those of its host, with the port first; files that rotate are read anew', async () => {
  const auth = { username: 'bot', password: 'right' };
  const server = await serve({ auth });
  const commit = server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const [right, wrong] = ['right', 'wrong'].map((password) => {
    const file = join(folder.path, password);
    writeFileSync(file, `${password}\n`);
    return { username: 'bot', passwordFile: file };
  });
  if (right === undefined || wrong === undefined) throw new Error('no files');
  const { hostname, host } = new URL(server.url);
  const deps = { outbound, allowFiles: false, clock: systemClock };
  const source = { repository: `${server.url}/fleet.git`, path: '' };
  const open = (credentials: GitDeps['credentials']) => openGit({ ...deps, dir: stateDir(), credentials }, source);
  expect((await open([{ host: hostname, ...right }]).fetch()).commit).toBe(commit);
  const both = [
    { host: hostname, ...wrong },
    { host, ...right },
  ];
  expect((await open(both).fetch()).commit).toBe(commit);
  for (const credentials of [[], [{ host: 'other.example.com', ...right }], [{ host: hostname, ...wrong }]]) {
    expect((await failureOf(() => open(credentials).fetch())).code).toBe('git-auth-required');
  }
  const own = { ...source, auth: { auth: { username: 'bot', password: async () => 'wrong' } } };
  const given = openGit({ ...deps, dir: stateDir(), credentials: [{ host, ...right }] }, own);
  expect((await failureOf(() => given.fetch())).code).toBe('git-auth-required');
  const rotating = open([{ host, ...right }]);
  auth.password = 'new';
  expect((await failureOf(() => rotating.fetch())).code).toBe('git-auth-required');
  writeFileSync(right.passwordFile, 'new');
  expect((await rotating.fetch()).commit).toBe(commit);
});
