// Tests that each reader of users' files names the encoding of a file that is not UTF-8.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { trustedRoots } from '#adapters/http/trust.ts';
import { readPassword } from '#adapters/postgres/pgpass.ts';
import { readFileSource } from '#adapters/sources/file.ts';
import { parseFile } from '#reconciler/run/read/parsed-file.ts';
import { decodeFile } from '#std/utf8.ts';
import { readAgeKeyFile } from './config/age-key-file.ts';
import { readSecretFile } from './config/secret-file.ts';
import { settingsText } from './config/settings-file.ts';
import { openPolicyFiles, policyFiles } from './reconciler/instance/policy-files.ts';
import { authOf } from './reconciler/instance/repositories.ts';
import { manifestFiles } from './reconciler/manifest-files.ts';
import { createWatchedFiles } from './watched-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'text-encoding-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Encodes text as big-endian UTF-16 without a byte order mark. */
function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

test.each([
  ['UTF-8', Buffer.from('kind: Ä'), { text: 'kind: Ä' }],
  ['UTF-8 with a byte order mark', Buffer.from('\uFEFFkind: Ä'), { text: 'kind: Ä' }],
  ['nothing', Buffer.from(''), { text: '' }],
  [
    'UTF-16 with a byte order mark',
    Buffer.from('\uFEFFkind: A', 'utf16le'),
    { fault: expect.stringContaining('UTF-16') },
  ],
  ['UTF-16 without a byte order mark', Buffer.from('kind: A', 'utf16le'), { fault: expect.stringContaining('UTF-16') }],
  ['big-endian UTF-16', utf16be('\uFEFFkind: A'), { fault: expect.stringContaining('UTF-16') }],
  ['big-endian UTF-16 without a mark', utf16be('kind: A'), { fault: expect.stringContaining('UTF-16') }],
  ['Latin-1', Buffer.from('kind: Ä', 'latin1'), { fault: 'the file is not UTF-8 text: save it as UTF-8' }],
])('%s', (_name, bytes, expected) => {
  expect(decodeFile(bytes)).toEqual(expected);
});

/**
 * Readers by description. Each reader receives the path of a UTF-16 file, and rejects with the message or returns the
 * message.
 */
const READERS: Readonly<Record<string, (path: string) => unknown>> = {
  'a configuration file': settingsText,
  'a watched file (configuration of a proxy or a virtual server, policies, secrets)': (path) =>
    createWatchedFiles().read(path),
  'a file of secrets': readSecretFile,
  'the password of a repository': (path) => authOf({ username: 'bot', passwordFile: path }).auth?.password(),
  'a registry file': (path) => readFileSource(path),
  'a password file of PostgreSQL': (path) =>
    readPassword(path, { host: 'db', port: 5432, database: 'registry', user: 'app' }),
  'certificate authorities': (caFile) => trustedRoots({ caFile }),
  'a file of age keys': async (path) => {
    throw new Error(JSON.stringify(await readAgeKeyFile(path)));
  },
  'a file of policies': (path) => openPolicyFiles(policyFiles([path], 'toolhive.stacklok.dev')),
};

describe('the message about a UTF-16 file names the encoding, for', () => {
  test.each(Object.entries(READERS))('%s', async (_name, read) => {
    const path = join(folder, 'file.yaml');
    for (const mark of ['\uFEFF', '']) {
      writeFileSync(path, `${mark}name: fleet\n`, { encoding: 'utf16le', mode: 0o600 });
      const failure = await Promise.resolve(path)
        .then(read)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).toMatchObject({ message: expect.stringMatching(/file is UTF-16 text .*save it as UTF-8/i) });
    }
  });

  test('a registry file that a source reads', async () => {
    const path = join(folder, 'registry.json');
    writeFileSync(path, '{"servers": {}}', 'utf16le');
    await expect(readFileSource(path)).rejects.toMatchObject({ code: 'source-not-text' });
  });

  test('a manifest on this machine', () => {
    const path = join(folder, 'manifest.yaml');
    writeFileSync(path, 'kind: A\n', 'utf16le');
    const [file] = manifestFiles(path);
    const parsed = file && parseFile(file, undefined);
    expect(parsed?.problems.map(({ problem }) => [problem.code, problem.place])).toEqual([
      ['encoding-invalid', { file: path, line: 1, column: 1 }],
    ]);
    expect(parsed?.unreadable).toBe(1);
  });
});
