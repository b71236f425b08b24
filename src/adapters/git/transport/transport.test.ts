// Tests conversations with Git servers that require credentials, redirect or close the connection, and with servers
// that do not speak Git.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everything, failureOf, open, serve, stateDir, textOf } from '../../../../test/harness/git-client.ts';
import { createOutbound } from '../../http/outbound.ts';

const PASSWORD = 'hunter2:ü@/';

test('credentials from the options or the URL are sent, and never in a message', async () => {
  const server = await serve({ auth: { username: 'bot', password: PASSWORD } });
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const url = `${server.url}/fleet.git`;
  const withCredentials = (password: string) => url.replace('//', `//bot:${encodeURIComponent(password)}@`);
  const auth = { username: 'bot', password: async () => PASSWORD };
  expect(await textOf(await open(url, { auth }).fetch())).toEqual({ 'a.yaml': 'a' });
  expect(await textOf(await open(withCredentials(PASSWORD)).fetch())).toEqual({ 'a.yaml': 'a' });
  const rows = [
    { opened: open(url), says: 'asks for credentials' },
    { opened: open(withCredentials('wrong-hunter2')), says: 'refuses the given credentials' },
    {
      opened: open(url, { auth: { ...auth, password: async () => 'wrong-hunter2' } }),
      says: 'refuses the given credentials',
    },
  ];
  for (const { opened, says } of rows) {
    const failure = await failureOf(() => opened.fetch());
    expect([failure.code, failure.message]).toEqual([
      'git-auth-required',
      `${url}, the default branch: the server ${says}`,
    ]);
    expect(everything(failure)).not.toContain('hunter2');
  }
});

test('a changed password is read again', async () => {
  const auth = { username: 'bot', password: 'old' };
  const server = await serve({ auth });
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'a' });
  let current = 'old';
  const opened = open(`${server.url}/fleet.git`, { auth: { username: 'bot', password: async () => current } });
  await opened.fetch();
  auth.password = 'new';
  expect((await failureOf(() => opened.fetch())).code).toBe('git-auth-required');
  current = 'new';
  expect((await opened.fetch()).commit).toBe(repository.git('rev-parse', 'HEAD'));
});

test.each([
  { status: 403, body: 'no', code: 'git-auth-required', retryable: false, says: 'denies access', reason: 'forbidden' },
  {
    status: 203,
    body: '<html>',
    code: 'git-auth-required',
    retryable: false,
    says: 'asks for',
    reason: 'a sign-in page',
  },
  {
    status: 200,
    body: '<html>',
    code: 'git-not-a-repository',
    retryable: false,
    says: 'not come from a Git server',
    reason: 'a web page',
  },
  {
    status: 200,
    body: '',
    code: 'git-not-a-repository',
    retryable: false,
    says: 'not come from a Git server',
    reason: 'nothing',
  },
  { status: 500, body: 'no', code: 'git-unreachable', retryable: true, says: 'answers 500', reason: 'a broken server' },
  { status: 429, body: 'no', code: 'git-unreachable', retryable: true, says: 'answers 429', reason: 'a busy server' },
  {
    status: 400,
    body: 'no',
    code: 'git-unreachable',
    retryable: false,
    says: 'answers 400',
    reason: 'a confused server',
  },
  {
    status: 200,
    body: '0015ERR access denied',
    code: 'git-protocol-error',
    retryable: false,
    says: 'access denied',
    reason: 'Git says no',
  },
])('status $status with "$body" is $code: $reason', async ({ status, body, code, retryable, says }) => {
  const server = await serve({
    intercept: (_request, response) => {
      response.writeHead(status).end(body);
      return true;
    },
  });
  const failure = await failureOf(() => open(`${server.url}/fleet.git`).fetch());
  expect([failure.code, failure.retryable, failure.message]).toEqual([code, retryable, expect.stringContaining(says)]);
});

test('an empty repository on a server without protocol version 2 lacks the branch', async () => {
  const server = await serve({
    intercept: (request) => {
      delete request.headers['git-protocol'];
      return false;
    },
  });
  server.createRepository('empty.git');
  const opened = open(`${server.url}/empty.git`, { ref: { branch: 'main' } });
  const failure = await failureOf(() => opened.fetch());
  expect([failure.code, failure.message]).toEqual([
    'git-ref-not-found',
    expect.stringContaining('it has no branch "main"'),
  ]);
});

test('a server with the dumb HTTP protocol is reported', async () => {
  let dir = '';
  const server = await serve({
    intercept: (request, response) => {
      const [, file = ''] = new URL(request.url ?? '', 'http://localhost').pathname.split('.git/');
      response.end(readFileSync(join(dir, file)));
      return true;
    },
  });
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'a' });
  dir = repository.dir;
  execFileSync('git', ['--git-dir', dir, 'update-server-info']);
  const failure = await failureOf(() => open(`${server.url}/fleet.git`).fetch());
  expect([failure.code, failure.message]).toEqual([
    'git-transport-unsupported',
    expect.stringContaining('skep reads only the smart HTTP protocol'),
  ]);
});

test('a broken transfer is a failure, and the next fetch succeeds', async () => {
  let broken = 0;
  const server = await serve({
    intercept: (request, response) => {
      if (request.method !== 'POST' || request.headers['git-protocol'] !== undefined || broken > 1) return false;
      broken += 1;
      response.writeHead(200, { 'content-length': broken === 1 ? 1000 : 8 });
      response.write('0008NAK\n', () => response.destroy());
      return true;
    },
  });
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const dir = stateDir();
  const opened = open(`${server.url}/fleet.git`, { dir });
  const failures = [await failureOf(() => opened.fetch()), await failureOf(() => opened.fetch())];
  expect(failures.map(({ code, retryable }) => [code, retryable])).toEqual([
    ['git-unreachable', true],
    ['git-protocol-error', true],
  ]);
  expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'a' });
  expect(readdirSync(dir).filter((name) => name.startsWith('clone-'))).toHaveLength(1);
});

test('an unreachable server, a private address and a silent server are reported', async () => {
  const server = await serve({ intercept: () => true });
  const url = `${server.url}/fleet.git`;
  const silent = await failureOf(() => open(url, { limits: { timeoutMs: 200 } }).fetch());
  expect([silent.code, silent.retryable, silent.message]).toEqual([
    'git-unreachable',
    true,
    `${url}, the default branch: no answer within 200 ms`,
  ]);
  const outbound = createOutbound({ allowPrivate: [], version: '0' });
  const refused = await failureOf(() => open(url, { outbound }).fetch());
  expect([refused.code, refused.data.outbound]).toEqual(['git-unreachable', 'outbound-refused-address']);
  await server.close();
  const closed = await failureOf(() => open(url).fetch());
  expect([closed.code, closed.message]).toEqual(['git-unreachable', `${url}, the default branch: connection refused`]);
});

test('redirects are followed, without credentials for another host', async () => {
  const seen: (string | undefined)[] = [];
  const target = await serve({
    intercept: (request) => {
      seen.push(request.headers.authorization);
      return false;
    },
  });
  target.createRepository('moved.git').commit({ 'a.yaml': 'a' });
  const server = await serve({
    intercept: (request, response) => {
      const location = (request.url ?? '').replace('/old.git', `${target.url}/moved.git`);
      response.writeHead(301, { location }).end();
      return true;
    },
  });
  const auth = { username: 'bot', password: async () => PASSWORD };
  expect(await textOf(await open(`${server.url}/old.git`, { auth }).fetch())).toEqual({ 'a.yaml': 'a' });
  expect([...new Set(seen)]).toEqual([undefined]);
});
