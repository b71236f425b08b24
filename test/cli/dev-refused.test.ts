// What keeps `skep dev` from starting is said before any work, with what to do.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEV_SETTINGS_HEAD } from '#hosts/config/dev-cluster.ts';
import { claimFolder } from '#hosts/dev/preconditions.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { type Finished, skep } from '../harness/skep.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

function dev(...args: readonly string[]): Promise<Finished> {
  return skep(['dev', ...args], { cwd: folder.path });
}

test('a port that is taken is named before any work', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await dev('--data', 'taken', '--port', String(port));
  other.close();
  expect([code, stdout, readdirSync(join(folder.path, 'taken'))]).toEqual([1, '', []]);
  expect(stderr.replace(String(port), 'PORT')).toMatchInlineSnapshot(`
    "error listen-failed: port PORT is used by another process. Name another one: skep dev --port N, or npm start -- --port N
    "
  `);
});

test('a port that is no number is a usage error', async () => {
  const { code, stdout, stderr } = await dev('--port', 'abc');
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toMatchInlineSnapshot(`
    "error usage: option '--port <number>' argument 'abc' is invalid. a port is a number from 0 to 65535
    "
  `);
});

test('--new-token is refused with --once, which opens no listener that asks for a token', async () => {
  const { code, stdout, stderr } = await dev('--once', '--new-token', '--data', 'once');
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toMatch(/--new-token.*cannot be used with.*--once/);
});

test('a folder that cannot be made names itself and the option', async () => {
  writeFileSync(join(folder.path, 'file'), '');
  const { code, stdout, stderr } = await dev('--data', 'file/state');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.replaceAll(folder.path, '/here')).toMatchInlineSnapshot(`
    "error file-not-written: file/state cannot be written: ENOTDIR: not a directory, mkdir '/here/file/state'. Name another folder: skep dev --data DIR, or npm start -- --data DIR
    "
  `);
});

test('a folder without room says how much there is and how much is needed', async () => {
  const failure = await claimFolder(join(folder.path, 'small'), Number.MAX_SAFE_INTEGER).catch((error) => error);
  expect(failure.code).toBe('file-not-written');
  expect(failure.message).toMatch(
    /small has \d+ MiB free, and \d+ MiB are needed\. Name another folder: skep dev --data DIR/,
  );
});

test('a second start names the first one and how to run beside it', async () => {
  mkdirSync(join(folder.path, 'shared'));
  const first = await claimFolder(join(folder.path, 'shared'));
  const { code, stdout, stderr } = await dev('--data', 'shared', '--port', '0');
  await first.release();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.replace(String(process.pid), 'PID')).toMatchInlineSnapshot(`
    "error devcluster-locked: skep dev runs on shared already, as process PID. Stop it, or start this one with its own folder and port: --data DIR --port N
    "
  `);
});

const SOURCES = '[{name: fleet, repository: "https://git.example.com/fleet.git", branch: main, path: .}]';

test.each(['sync', 'plan', 'rollback abcd'])(
  'skep %s with a configuration of its own keeps out of the cluster of skep dev',
  async (command) => {
    const data = join(folder.path, 'started', 'data');
    mkdirSync(join(data, 'cluster'), { recursive: true });
    writeFileSync(
      join(data, 'skep.yaml'),
      `${DEV_SETTINGS_HEAD}{name: prod, sources: ${SOURCES}, stateDir: ${data}/state}\n`,
    );
    writeFileSync(join(folder.path, 'started', 'skep.yaml'), `name: prod\nsources: ${SOURCES}\nstateDir: own\n`);
    const { code, stdout, stderr } = await skep(command.split(' '), {
      cwd: join(folder.path, 'started'),
      env: { KUBECONFIG: join(data, 'cluster', 'kubeconfig') },
    });
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr.replaceAll(folder.path, '/here')).toBe(
      'error usage: the cluster of /here/started/data/cluster/kubeconfig belongs to skep dev, which is also named "prod": ' +
        'each instance would delete the objects of the other. Commit to a repository that skep dev follows, use -c /here/started/data/skep.yaml, ' +
        'or give your skep.yaml another name.\n',
    );
  },
);

test('skep status says that skep dev does not run, after what it knows', async () => {
  const stopped = join(folder.path, 'stopped');
  mkdirSync(join(stopped, '.skep', 'dev'), { recursive: true });
  const cluster = { name: 'dev', cluster: { server: 'https://127.0.0.1:1' } };
  const context = { name: 'dev', context: { cluster: 'dev', user: 'dev' } };
  const user = { name: 'dev', user: { token: 'none' } };
  const kubeconfig = { clusters: [cluster], contexts: [context], users: [user], 'current-context': 'dev' };
  writeFileSync(join(stopped, 'kubeconfig'), JSON.stringify(kubeconfig));
  const settings = `name: dev\nsources: ${SOURCES}\nstateDir: state\ncluster: {kubeconfig: kubeconfig}\n`;
  writeFileSync(join(stopped, '.skep', 'dev', 'skep.yaml'), settings);
  const { code, stdout, stderr } = await skep(['status'], { cwd: stopped });
  expect([code, stdout]).toEqual([1, expect.stringContaining('dev: nothing is known: cluster-unreachable')]);
  expect(stderr).toMatch(/\nskep dev does not run here: start it again \(npm start, or skep dev\)\n$/);
});
