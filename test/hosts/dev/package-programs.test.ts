// What images are whose entries name packages: of which nothing runs, and why; and what a container is that starts again.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { openInstaller } from '#hosts/dev/package-install.ts';
import { openPackagePrograms } from '#hosts/dev/package-programs.ts';
import type { RunToEnd } from '#kubernetes/devcluster/node/ports.ts';
import type { PackageType } from '#registry/catalogue/packages.ts';
import { temporaryFolder } from '../../harness/git-server.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const IMAGE = 'images.example.com/bees:1';
const CONTAINER = { name: 'mcp', image: IMAGE, stdin: true };

function entry(type: PackageType, version: string) {
  const transport = { type: 'stdio' };
  const pkg = { registryType: type, identifier: 'bees', version, transport };
  return { packages: [{ registryType: 'oci', identifier: IMAGE, transport }, pkg] };
}

/** Does what npm does, as far as it is looked at: the package of its last argument is in the folder. */
const NPM = `#!/bin/sh
for last; do :; done
mkdir -p node_modules/bees
echo '{"bin": {"bees": "server.mjs"}}' > node_modules/bees/package.json
echo "$last" > node_modules/.package-lock.json
`;

function pathWith(...programs: readonly string[]): string {
  const dir = join(folder.path, `bin-${programs.join('-')}`);
  mkdirSync(dir, { recursive: true });
  for (const name of programs) writeFileSync(join(dir, name), NPM, { mode: 0o755 });
  return dir;
}

function open(run: readonly PackageType[], ...programs: readonly string[]) {
  const PATH = `${pathWith(...programs)}:/usr/bin:/bin`;
  const environment = { PATH: programs.length === 0 ? pathWith() : PATH };
  return openPackagePrograms(run, openInstaller({ folder: join(folder.path, 'packages'), environment }));
}

const runToEnd: RunToEnd = async ({ program, args, env, directory }) => {
  await promisify(execFile)(program, args, { env, cwd: directory });
};

test('as long as the catalogue was not read nothing runs, without a reason that would be wrong later', () => {
  expect(open(['npm'], 'npm').find(CONTAINER)).toEqual({ absent: '' });
});

test('an image that is pinned has the package of its tag', () => {
  const programs = open(['npm'], 'npm');
  programs.take([entry('npm', '1.0.0')]);
  const image = `${IMAGE}@sha256:${'a'.repeat(64)}`;
  expect(programs.find({ ...CONTAINER, image })).toHaveProperty('command');
});

test.each([
  {
    reason: 'the tool is missing',
    entries: [entry('npm', '1.0.0')],
    absent: `${IMAGE} does not run on this machine: it is a package of npm, and npm is not in the PATH`,
  },
  {
    reason: 'the other tool is missing',
    entries: [entry('pypi', '1.0.0')],
    absent: `${IMAGE} does not run on this machine: it is a package of pypi, and uv is not in the PATH`,
  },
  {
    reason: 'no entry has it',
    entries: [],
    absent: `skep dev has no program for image ${IMAGE}: no entry of the catalogue names a package of an exact version for it (--run npm,pypi), and dev.images of skep.yaml has no glob for it`,
  },
])('where $reason, that is why nothing runs', ({ entries, absent }) => {
  const programs = open(['npm', 'pypi']);
  programs.take(entries);
  expect(programs.find(CONTAINER)).toEqual({ absent });
});

test('where entries name different packages for an image, none of them runs', () => {
  const programs = open(['npm'], 'npm');
  programs.take([entry('npm', '1.0.0'), entry('npm', '6.6.6')]);
  expect(programs.find(CONTAINER)).toMatchObject({ absent: expect.stringContaining('bees@1.0.0, bees@6.6.6') });
});

test('a container that starts again is what the catalogue says by then', async () => {
  const programs = open(['npm'], 'npm');
  expect(programs.take([entry('npm', '1.0.0')])).toBe(true);
  expect(programs.take([entry('npm', '1.0.0')])).toBe(false);
  const found = programs.find(CONTAINER);
  if ('absent' in found || typeof found.command !== 'function') throw new Error('it does not run');
  const program = (version: string) =>
    join(folder.path, 'packages', 'npm', `bees@${version}`, 'node_modules/.bin/bees');
  expect(await found.command(runToEnd, { folders: [] })).toEqual([program('1.0.0')]);
  expect(programs.take([entry('npm', '2.0.0')])).toBe(true);
  expect(await found.command(runToEnd, { folders: [] })).toEqual([program('2.0.0')]);
});
