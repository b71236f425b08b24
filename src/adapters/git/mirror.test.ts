// Tests the local copy of a repository: the cost of a fetch, and recovery from damage, kills and concurrent processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import { Failure } from '#std/failure.ts';
import { failureOf, manyFiles, open, serve, stateDir, textOf, transferred } from '../../../test/harness/git-client.ts';

test('fetching an unchanged branch sends two small requests, even from a new process', async () => {
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

test('only changed objects are transferred: after a change of one line, a merge, a rewritten history, a revert', async () => {
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
    'reverted to content that only older commits had': () => repository.commit({ 'd3/f3.yaml': original }),
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

test('a file that alternates between a few contents can always be read, and git can verify every pack on its own', async () => {
  const server = await serve();
  const repository = server.createRepository('fleet.git');
  const dir = stateDir();
  const opened = open(`${server.url}/fleet.git`, { dir });
  const lines = Array.from({ length: 500 }, (_, line) => `line ${line}: ${(line * 7919) % 10_007}\n`);
  const contents = [50, 250, 450].map((line) => lines.toSpliced(line, 1, 'another line\n').join(''));
  for (let round = 0; round < 12; round += 1) {
    const files = { 'a.yaml': contents[round % 3] ?? '', 'b.yaml': `round: ${round}\n` };
    repository.commit(files);
    expect(await textOf(await opened.fetch())).toEqual(files);
  }
  const objects = join(dir, 'clone-1/objects/pack');
  const packs = readdirSync(objects).filter((name) => name.endsWith('.idx'));
  expect(packs).toHaveLength(12);
  for (const pack of packs) expect(repository.git('verify-pack', join(objects, pack))).toBe('');
});

test('after many fetches the local copy is created again, and the old copy is removed', async () => {
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

test('a checkout stays readable during later fetches', async () => {
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

test.each(Object.keys(damages))('a damaged local copy is fetched again: %s', async (damage) => {
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

test('after a killed fetch the copy is intact, and other processes can lock the folder', async () => {
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
    import { systemClock } from ${module('../../hosts/clock.ts')};
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

test('two users of a folder wait for each other', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit(manyFiles());
  const dir = stateDir();
  const both = [1, 2].map(() => open(`${server.url}/fleet.git`, { dir }));
  const [one, two] = await Promise.all(both.map((repository) => repository.fetch()));
  expect(one?.commit).toBe(two?.commit);
  expect(readdirSync(dir).sort()).toEqual(['clone-1', 'current']);
});

test('the lock of a running process is respected, the lock of a dead or inactive process is removed', async () => {
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

test('a state folder that cannot be written is reported', async () => {
  const server = await serve();
  server.createRepository('fleet.git').commit({ 'a.yaml': 'a' });
  const dir = join(import.meta.filename, 'state');
  const failure = await failureOf(() => open(`${server.url}/fleet.git`, { dir }).fetch());
  expect([failure.code, failure.message]).toEqual(['git-state-unwritable', expect.stringContaining('ENOTDIR')]);
});
