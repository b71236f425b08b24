// The folder for state: a repository that was cloned cannot decide about it, and its files are for their owner alone.

import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { claimFolder } from '#hosts/dev/preconditions.ts';
import { checkStateFolder } from '#hosts/state-folder.ts';
import { writePrivately, writePrivatelyNow } from '#kubernetes/devcluster/storage/private-file.ts';
import { createRepository, temporaryFolder } from '../harness/git-server.ts';
import { skep } from '../harness/skep.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('a start of skep dev replaces links and open files, and closes its folder', async () => {
  const dir = join(folder.path, 'dev');
  const victim = join(folder.path, 'victim');
  mkdirSync(dir, { mode: 0o755 });
  writeFileSync(victim, 'precious');
  symlinkSync(victim, join(dir, 'skep.yaml'));
  writeFileSync(join(dir, 'pgpass'), '', { mode: 0o644 });
  chmodSync(join(dir, 'pgpass'), 0o644);
  const { code } = await skep(['dev', '--once', '--port', '0', '--data', 'dev'], { cwd: folder.path });
  expect(code).toBe(0);
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(lstatSync(join(dir, 'skep.yaml')).isSymbolicLink()).toBe(false);
  expect(['.', 'skep.yaml', 'pgpass', 'cluster', 'cluster/kubeconfig'].map((name) => modeOf(join(dir, name)))).toEqual([
    '700',
    '600',
    '600',
    '700',
    '600',
  ]);
});

test.each([
  { name: 'writePrivately', write: writePrivately },
  { name: 'writePrivatelyNow', write: async (path: string, text: string) => writePrivatelyNow(path, text) },
])('$name writes to no link, whatever name its draft could have', async ({ name, write }) => {
  const dir = join(folder.path, name);
  mkdirSync(dir);
  const [victim, token] = [join(dir, 'victim'), join(dir, 'token')];
  writeFileSync(victim, 'precious');
  for (const link of ['token', 'token.draft', 'token.new', `token.${process.pid}`])
    symlinkSync(victim, join(dir, link));
  await write(token, 'secret');
  expect([readFileSync(victim, 'utf8'), readFileSync(token, 'utf8'), modeOf(token)]).toEqual([
    'precious',
    'secret',
    '600',
  ]);
});

const isRoot = process.getuid?.() === 0;
const elsewhere = temporaryFolder();
afterAll(() => elsewhere.remove());

async function refusal(dir: string, claim: (dir: string) => Promise<unknown>): Promise<string> {
  const failure = await claim(dir).then(
    () => ({ code: 'accepted', message: '' }),
    (error: { code: string; message: string }) => error,
  );
  return `${failure.code}: ${failure.message}`.replaceAll(folder.path, '/here');
}

const claims = [
  { by: 'skep dev', claim: (dir: string) => claimFolder(dir) },
  { by: 'a run', claim: (dir: string) => checkStateFolder(dir, { ownedByUser: false }) },
];

test.each(claims)('a folder that is a link is refused by $by', async ({ by, claim }) => {
  const dir = join(folder.path, `link-${by.length}`);
  symlinkSync(elsewhere.path, dir);
  expect(await refusal(dir, claim)).toBe(
    `state-folder-unsafe: ${dir.replace(folder.path, '/here')} cannot be used for state: ${dir.replace(folder.path, '/here')} is a link. Delete it, or name another folder (stateDir of skep.yaml; --data for skep dev).`,
  );
});

test.each(claims)(
  'a folder with a file that Git tracks is refused by $by, in a linked work tree too',
  async ({ by, claim }) => {
    const clone = createRepository(join(folder.path, `clone-${by.length}`));
    clone.commit({ '.skep/dev-a/token': 'planted', 'readme.md': '' });
    const linked = join(folder.path, `linked-${by.length}`);
    clone.git('worktree', 'add', '--quiet', '--detach', linked);
    for (const root of [clone.dir, linked]) {
      expect(await refusal(join(root, '.skep', 'dev-a'), claim)).toContain('Git tracks .skep/dev-a/token in it');
      mkdirSync(join(root, '.skep', 'dev-b'));
      expect(await refusal(join(root, '.skep', 'dev-b'), claim)).toBe('accepted: ');
    }
  },
);

test.each(claims)(
  'a folder that Git tracks in another case, or as a submodule, is refused by $by',
  async ({ by, claim }) => {
    const clone = createRepository(join(folder.path, `folded-${by.length}`));
    const commit = clone.commit({ '.Skep/Dev-Ä/token': 'planted', 'readme.md': '' });
    const folded = join(clone.dir, '.skep', 'dev-a\u0308');
    mkdirSync(folded, { recursive: true });
    expect(await refusal(folded, claim)).toContain('Git tracks .Skep/Dev-Ä/token in it');
    const module = join(clone.dir, '.skep', 'dev-m');
    mkdirSync(module);
    expect(await refusal(module, claim)).toBe('accepted: ');
    clone.git('update-index', '--add', '--cacheinfo', `160000,${commit},.skep/dev-m`);
    expect(await refusal(module, claim)).toContain('Git tracks .skep/dev-m in it');
    const own = createRepository(join(clone.dir, '.skep', 'dev-n'));
    own.commit({ token: 'planted' });
    expect(await refusal(own.dir, claim)).toContain('Git tracks token in it');
  },
);

test.skipIf(!isRoot)('a folder of another user is refused by skep dev, and is a volume for a run', async () => {
  const dir = join(folder.path, 'theirs');
  mkdirSync(dir);
  chownSync(dir, 12_345, 12_345);
  const [dev, run] = await Promise.all(claims.map(({ claim }) => refusal(dir, claim)));
  expect([dev, run]).toEqual([expect.stringContaining('the folder belongs to the user 12345, not 0'), 'accepted: ']);
});

test('a link in the place of .skep is refused by skep dev and by skep sync', async () => {
  const cwd = join(folder.path, 'planted');
  mkdirSync(cwd);
  symlinkSync(elsewhere.path, join(cwd, '.skep'));
  const dev = await skep(['dev', '--once', '--port', '0'], { cwd });
  expect(dev).toMatchObject({ code: 1, stderr: expect.stringContaining('error state-folder-unsafe') });
  const sources = [{ name: 'fleet', repository: 'https://127.0.0.1:1/fleet.git' }];
  writeFileSync(join(cwd, 'skep.yaml'), JSON.stringify({ name: 'planted', sources }));
  const sync = await skep(['sync'], { cwd });
  expect(sync).toMatchObject({ code: 1, stderr: expect.stringContaining('error state-folder-unsafe') });
});
