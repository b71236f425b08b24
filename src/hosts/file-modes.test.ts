// Tests the modes of written files, and which file owners are trusted.

import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useFolder } from '#adapters/git/state.ts';
import { temporaryFolder } from '../../test/harness/git-server.ts';
import { readSecretFile } from './config/secret-file.ts';
import { openResultCache } from './reconciler/kept/result-cache.ts';
import { writeState } from './state-file.ts';

const folder = temporaryFolder();

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('only the user of the program can read stored data', async () => {
  const state = join(folder.path, 'state');
  await writeState(join(state, 'remembered.json'), '{}');
  await useFolder(join(state, 'git', 'fleet'), async () => undefined);
  openResultCache(join(folder.path, 'cache', 'validate'), Date.now).set('0'.repeat(64), {});
  const modes = ['state', 'state/remembered.json', 'state/git', 'state/git/fleet', 'cache/validate'];
  expect(modes.map((path) => `${path} ${modeOf(join(folder.path, path))}`)).toEqual([
    'state 700',
    'state/remembered.json 600',
    'state/git 700',
    'state/git/fleet 700',
    'cache/validate 700',
  ]);
});

test.each([
  { mode: 0o600, reason: 'the owner alone' },
  { mode: 0o440, reason: 'a Secret mounted for a group (fsGroup)' },
  { mode: 0o644, reason: 'a Secret mounted as it comes' },
])('secrets are read from a file of mode $mode: $reason', async ({ mode }) => {
  const file = join(folder.path, 'token');
  writeFileSync(file, 'secret\n');
  chmodSync(file, mode);
  await expect(readSecretFile(file)).resolves.toEqual(['secret']);
});

test('files of secrets are refused if every user can write to them', async () => {
  const file = join(folder.path, 'open');
  writeFileSync(file, 'secret\n');
  chmodSync(file, 0o666);
  await expect(readSecretFile(file)).rejects.toMatchObject({ code: 'secret-file-open' });
});

test('a link to a deleted file is refused as a secret', async () => {
  await expect(readSecretFile(join(folder.path, 'gone'))).rejects.toMatchObject({ code: 'secret-file-unreadable' });
});
