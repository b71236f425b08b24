// Tests which credentials are used to fetch a repository.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createOutbound } from '#adapters/http/outbound.ts';
import { failureOf, serve, stateDir } from '../../../../test/harness/git-client.ts';
import { temporaryFolder } from '../../../../test/harness/git-server.ts';
import { systemClock } from '../../clock.ts';
import { readConfig } from '../../config/read-config.ts';
import { type GitDeps, lentTo, openGit } from './repositories.ts';

const folder = temporaryFolder();
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });

afterEach(async () => {
  await outbound.close();
  folder.remove();
});

test('a source without credentials uses the credentials for its scheme, host and port; changed files are read again', async () => {
  const auth = { username: 'bot', password: 'right' };
  const server = await serve({ auth });
  const commit = server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const [right, wrong] = ['right', 'wrong'].map((password) => {
    const file = join(folder.path, password);
    writeFileSync(file, `${password}\n`);
    return { username: 'bot', passwordFile: file };
  });
  if (right === undefined || wrong === undefined) throw new Error('no files');
  const { hostname, port } = new URL(server.url);
  const here = { host: hostname, scheme: 'http', port: Number(port) } as const;
  const deps = { outbound, allowFiles: false, clock: systemClock };
  const source = { repository: `${server.url}/fleet.git`, path: '' };
  const open = (credentials: GitDeps['credentials']) => openGit({ ...deps, dir: stateDir(), credentials }, source);
  expect(
    (
      await open([
        { ...here, port: 1, ...wrong },
        { ...here, ...right },
      ]).fetch()
    ).commit,
  ).toBe(commit);
  const others: readonly GitDeps['credentials'][] = [
    [],
    [{ ...here, host: 'other.example.com', ...right }],
    [{ ...here, ...wrong }],
    // A password is sent only over https and to port 443, unless skep.yaml names another scheme or port.
    [{ host: hostname, port: Number(port), ...right }],
    [{ host: hostname, scheme: 'http', ...right }],
    [{ host: hostname, ...right }],
  ];
  for (const credentials of others) {
    expect((await failureOf(() => open(credentials).fetch())).code).toBe('git-auth-required');
  }
  const own = { ...source, auth: { auth: { username: 'bot', password: async () => 'wrong' } } };
  const given = openGit({ ...deps, dir: stateDir(), credentials: [{ ...here, ...right }] }, own);
  expect((await failureOf(() => given.fetch())).code).toBe('git-auth-required');
  const rotating = open([{ ...here, ...right }]);
  auth.password = 'new';
  expect((await failureOf(() => rotating.fetch())).code).toBe('git-auth-required');
  writeFileSync(right.passwordFile, 'new');
  expect((await rotating.fetch()).commit).toBe(commit);
});

test('only namespaces that skep.yaml names may use the credentials for a host; by default no namespace may', () => {
  const text = (namespaces: object) =>
    JSON.stringify({ ...MINIMAL, git: { credentials: [{ ...GIT, ...namespaces }] } });
  const lent = (namespaces: object, namespace: string) =>
    lentTo(readConfig({ text: text(namespaces), file: 'skep.yaml', environment: {} }).git.credentials, namespace)
      .length;
  expect(lent({}, 'team-a')).toBe(0);
  expect([lent({ namespaces: ['team-*'] }, 'team-a'), lent({ namespaces: ['team-*'] }, 'other')]).toEqual([1, 0]);
});

const MINIMAL = { name: 'test', sources: [{ name: 'fleet', repository: 'https://git.example.com/fleet.git' }] };
const GIT = { host: 'git.example.com', username: 'bot', passwordFile: '/secrets/git' };
