// Repositories behind a real Git server: what a checkout holds, what a fetch costs, and what happens when things go wrong.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  type GitServer,
  type GitServerOptions,
  startGitServer,
  type TestRepository,
  temporaryFolder,
} from '../../../test/harness/git-server.ts';
import { systemClock } from '../../main/clock.ts';
import type { Checkout, Repository } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { createOutbound } from '../http/outbound.ts';
import { type GitOptions, openRepository } from './repository.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(options: GitServerOptions = {}): Promise<GitServer> {
  const server = await startGitServer(options);
  cleanups.push(() => server.close());
  return server;
}

function stateDir(): string {
  const folder = temporaryFolder();
  cleanups.push(() => folder.remove());
  return join(folder.path, 'state');
}

function open(repository: string, options: Partial<GitOptions> = {}): Repository {
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });
  cleanups.push(() => outbound.close());
  const dir = options.dir ?? stateDir();
  return openRepository({ repository, ref: {}, dir, outbound, allowFiles: false, clock: systemClock, ...options });
}

async function textOf(checkout: Checkout): Promise<Record<string, string>> {
  const contents = await checkout.read(checkout.files.map(({ oid }) => oid));
  return Object.fromEntries(
    checkout.files.map(({ path, oid }) => [path, Buffer.from(contents.get(oid) ?? []).toString()]),
  );
}

async function failureOf(run: () => Promise<unknown>): Promise<Failure> {
  const answer = await run().catch((error: unknown) => error);
  if (answer instanceof Failure) return answer;
  throw new Error(`no Failure but ${JSON.stringify(answer)}`);
}

function transferred(server: GitServer): number {
  return server.exchanges.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
}

/** Many files that do not compress to nothing, so that sending them again would show. */
function manyFiles(count = 600): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => index);
  return Object.fromEntries(
    names.map((index) => [
      `d${index % 20}/f${index}.yaml`,
      Array.from({ length: 20 }, (_, line) => `k${line}: ${Math.imul(index * 31 + line, 2_654_435_761) >>> 0}\n`).join(
        '',
      ),
    ]),
  );
}

test('a checkout holds the files of the commit, sorted, and names what it skips', async () => {
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

/** Branch `main` with two commits, branch `feature/x`, tags `light` and `signed` on the first commit of `main`. */
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
])('$ref is followed: $reason', async ({ ref, text }) => {
  const server = await serve();
  withRefs(server.createRepository('fleet.git'));
  const checkout = await open(`${server.url}/fleet.git`, { ref }).fetch();
  expect(await textOf(checkout)).toEqual({ 'a.yaml': text });
});

test('a commit is fetched once and then asks the server for nothing', async () => {
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

test('a commit that no ref leads to is refused clearly, or fetched where the server allows it', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const { feature } = withRefs(repository);
  repository.git('push', '--quiet', repository.dir, ':feature/x');
  const url = `${server.url}/fleet.git`;
  const failure = await failureOf(() => open(url, { ref: { commit: feature } }).fetch());
  expect(failure.code).toBe('git-ref-not-found');
  expect(failure.message).toContain(`${url}, commit ${feature}: `);
  expect(failure.message).toContain('hands out only what a branch or tag leads to');
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

test('a path that the commit does not have is a failure, not an empty checkout', async () => {
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

test('an unchanged branch costs two small requests, also for a new process', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit(manyFiles());
  const dir = stateDir();
  const repository = open(`${server.url}/fleet.git`, { ref: { branch: 'main' }, dir });
  const before = await repository.fetch();
  server.forget();
  expect(await repository.fetch()).toMatchObject({ commit: before.commit, files: before.files });
  expect([server.exchanges.length, transferred(server) < 500]).toEqual([2, true]);
  server.forget();
  const after = await open(`${server.url}/fleet.git`, { ref: { branch: 'main' }, dir }).fetch();
  expect([server.exchanges.length, transferred(server) < 500]).toEqual([2, true]);
  expect(await textOf(after)).toEqual(await textOf(before));
});

test('a change transfers what changed, not the repository: one line, an old branch merged, a rewritten history, a revert', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit(manyFiles());
  repository.git('branch', 'old');
  const original = readFileSync(join(repository.dir, '..', 'fleet.git.work', 'd3/f3.yaml'), 'utf8');
  for (let round = 0; round < 5; round += 1) repository.commit({ 'd3/f3.yaml': `round: ${round}\n` });
  const opened = open(`${server.url}/fleet.git`);
  await opened.fetch();
  const whole = transferred(server);
  expect(whole).toBeGreaterThan(50_000);
  const steps: Record<string, () => void> = {
    'one line': () => repository.commit({ 'd3/f3.yaml': 'round: 99\n' }),
    'old branch merged': () => {
      repository.git('checkout', '--quiet', 'old');
      repository.commit({ 'd7/new.yaml': 'side: 1\n' });
      repository.git('checkout', '--quiet', 'main');
      repository.git('merge', '--quiet', '--no-edit', 'old');
      repository.publish();
    },
    'history rewritten': () => {
      repository.git('reset', '--quiet', '--hard', 'main~3');
      repository.commit({ 'd9/f9.yaml': 'forced: 1\n' });
    },
    'reverted to what only older commits had': () => repository.commit({ 'd3/f3.yaml': original }),
  };
  for (const [step, run] of Object.entries(steps)) {
    run();
    server.forget();
    const checkout = await opened.fetch();
    expect(checkout.commit, step).toBe(repository.git('rev-parse', 'HEAD'));
    expect(transferred(server), step).toBeLessThan(6_000);
    expect(await textOf(checkout), step).toMatchObject({
      'd3/f3.yaml': repository.git('show', 'HEAD:d3/f3.yaml').concat('\n'),
      'd9/f9.yaml': repository.git('show', 'HEAD:d9/f9.yaml').concat('\n'),
    });
  }
});

test('after many fetches the local copy is made anew, and the old one is removed', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const dir = stateDir();
  const opened = open(`${server.url}/fleet.git`, { dir, limits: { maxPacks: 3 } });
  for (let round = 0; round < 9; round += 1) {
    repository.commit({ 'a.yaml': `round: ${round}\n` });
    expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': `round: ${round}\n` });
  }
  expect(readdirSync(dir).sort()).toEqual(['clone-2', 'clone-3', 'current']);
  expect(readdirSync(join(dir, 'clone-3/objects/pack')).filter((name) => name.endsWith('.pack'))).toHaveLength(3);
});

test('a checkout stays readable while newer ones are fetched', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit({ 'a.yaml': 'old' });
  const opened = open(`${server.url}/fleet.git`, { limits: { maxPacks: 1 } });
  const before = await opened.fetch();
  repository.commit({ 'a.yaml': 'new' });
  expect(await textOf(await opened.fetch())).toEqual({ 'a.yaml': 'new' });
  expect(await textOf(before)).toEqual({ 'a.yaml': 'old' });
});

function packFile(dir: string, extension: string): string {
  const clone = join(dir, readFileSync(join(dir, 'current'), 'utf8').trim());
  const name = readdirSync(join(clone, 'objects/pack')).find((each) => each.endsWith(extension));
  return join(clone, 'objects/pack', name ?? 'no-pack');
}

const damages: Record<string, (dir: string) => void> = {
  'a pack is cut short': (dir) => truncateSync(packFile(dir, '.pack'), 100),
  'a pack has a flipped byte': (dir) => {
    const bytes = readFileSync(packFile(dir, '.pack'));
    bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
    writeFileSync(packFile(dir, '.pack'), bytes);
  },
  'an index is garbage': (dir) => writeFileSync(packFile(dir, '.idx'), 'garbage'),
  'an index is missing': (dir) => rmSync(packFile(dir, '.idx')),
  'all objects are gone': (dir) => rmSync(join(packFile(dir, '.idx'), '../..'), { recursive: true }),
  'the clone is gone': (dir) => rmSync(join(packFile(dir, '.idx'), '../../..'), { recursive: true }),
  'the pointer is garbage': (dir) => writeFileSync(join(dir, 'current'), '../../elsewhere\n'),
  'everything is gone': (dir) => rmSync(dir, { recursive: true }),
};

test.each(Object.keys(damages))('a damaged local copy is fetched anew: %s', async (damage) => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  repository.commit(manyFiles(30));
  const dir = stateDir();
  const opened = open(`${server.url}/fleet.git`, { dir });
  const before = await opened.fetch();
  const expected = await textOf(before);
  damages[damage]?.(dir);
  expect(await textOf(before), 'the checkout at hand').toEqual(expected);
  damages[damage]?.(dir);
  expect(await textOf(await open(`${server.url}/fleet.git`, { dir }).fetch()), 'another process').toEqual(expected);
  damages[damage]?.(dir);
  const changed = repository.commit({ 'd1/f1.yaml': 'x: 1\n' });
  const after = await opened.fetch();
  expect([after.commit, (await textOf(after))['d1/f1.yaml']]).toEqual([changed, 'x: 1\n']);
});

test('a killed fetch breaks nothing and locks nobody out', async () => {
  let silent: ServerResponse | undefined;
  let listening: (() => void) | undefined;
  const asked = new Promise<void>((done) => {
    listening = done;
  });
  const server = await serve({
    intercept: (request, response) => {
      const isTransfer = request.method === 'POST' && request.headers['git-protocol'] === undefined;
      if (!isTransfer || silent !== undefined) return false;
      silent = response;
      listening?.();
      return true;
    },
  });
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const dir = stateDir();
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { openRepository } from ${module('./repository.ts')};
    import { createOutbound } from ${module('../http/outbound.ts')};
    import { systemClock } from ${module('../../main/clock.ts')};
    const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: '0' });
    const [repository, dir] = process.argv.slice(1);
    await openRepository({ repository, ref: {}, dir, outbound, allowFiles: false, clock: systemClock }).fetch();`;
  const args = ['--input-type=module', '--eval', script, `${server.url}/fleet.git`, dir];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  await asked;
  expect(readdirSync(dir).sort()).toEqual(['clone-1', 'lock']);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await textOf(await open(`${server.url}/fleet.git`, { dir }).fetch())).toEqual({ 'a.yaml': 'a' });
  expect(readdirSync(dir).sort()).toEqual(['clone-2', 'current']);
});

test('two users of one folder take turns', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit(manyFiles());
  const dir = stateDir();
  const both = [1, 2].map(() => open(`${server.url}/fleet.git`, { dir }));
  const [one, two] = await Promise.all(both.map((repository) => repository.fetch()));
  expect(one?.commit).toBe(two?.commit);
  expect(readdirSync(dir).sort()).toEqual(['clone-1', 'current']);
});

test('a lock whose holder lives is respected, one whose holder is dead or silent is not', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const holders = [
    { content: { host: 'elsewhere', pid: 1, process: 'x', token: 't' }, ageSeconds: 0, outcome: 'git-state-locked' },
    { content: { host: 'elsewhere', pid: 1, process: 'x', token: 't' }, ageSeconds: 60, outcome: 'fetched' },
    { content: 'half-writ', ageSeconds: 0, outcome: 'git-state-locked' },
    { content: 'half-writ', ageSeconds: 60, outcome: 'fetched' },
  ];
  for (const { content, ageSeconds, outcome } of holders) {
    const dir = stateDir();
    mkdirSync(dir, { recursive: true });
    const file = join(dir, 'lock');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    const clock = { ...systemClock, now: () => systemClock.now() + ageSeconds * 1000 };
    const opened = open(`${server.url}/fleet.git`, { dir, clock, limits: { lockWaitMs: 200 } });
    const found = await opened.fetch().then(
      () => 'fetched',
      (error: unknown) => (error instanceof Failure ? error.code : error),
    );
    expect(found, JSON.stringify({ content, ageSeconds })).toBe(outcome);
  }
});

test('a vanished branch and a vanished repository are failures, and what was fetched stays readable', async () => {
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

test('a repository with SHA-256 names is refused as unsupported', async () => {
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

const PASSWORD = 'hunter2:ü@/';

function everything(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = JSON.stringify({ ...error, stack: error.stack, message: error.message });
  return `${fields}\n${error.cause === undefined ? '' : everything(error.cause)}`;
}

test('credentials are sent from the options or the URL, and shown nowhere', async () => {
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

test('a password that changes is read anew', async () => {
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
  { status: 200, body: '<html>', code: 'git-not-a-repository', retryable: false, says: 'no Git', reason: 'a web page' },
  { status: 200, body: '', code: 'git-not-a-repository', retryable: false, says: 'no Git', reason: 'nothing' },
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

test('a transfer that breaks off is a failure, and the next fetch succeeds', async () => {
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

test('an unreachable server, a private one and a silent one say so', async () => {
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

test('a repository that moved is followed, without credentials to another host', async () => {
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

test('limits: a file is named by its path, a transfer is cut off', async () => {
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

test('a state folder that cannot be written says so', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const dir = join(import.meta.filename, 'state');
  const failure = await failureOf(() => open(`${server.url}/fleet.git`, { dir }).fetch());
  expect([failure.code, failure.message]).toEqual(['git-state-unwritable', expect.stringContaining('ENOTDIR')]);
});

test.each([
  {
    repository: 'ssh://git@example.com/x.git',
    code: 'git-transport-unsupported',
    says: 'ssh://example.com/x.git: ssh',
  },
  { repository: 'git@example.com:team/x.git', code: 'git-transport-unsupported', says: 'ssh is not supported' },
  { repository: 'example.com:team/x.git', code: 'git-transport-unsupported', says: 'ssh is not supported' },
  { repository: 'git://example.com/x.git', code: 'git-transport-unsupported', says: 'git is not supported' },
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
    says: 'neither query nor fragment',
  },
  { repository: 'https://a:%zz@example.com/x.git', code: 'git-invalid-url', says: 'not percent-encoded' },
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
