import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPassword } from '#contracts/pgpass.ts';
import { Failure } from '#std/failure.ts';
import { isOpen, readPassword } from './pgpass.ts';

const CONNECTION = { host: 'db.example.com', port: 5432, database: 'registry', user: 'db_app' };

describe('the first matching line contains the password', () => {
  test.each([
    { text: 'db.example.com:5432:registry:db_app:secret', password: 'secret', reason: 'all four fields fit' },
    { text: '*:*:*:*:secret', password: 'secret', reason: 'a star fits everything' },
    { text: '*:5433:*:*:no\n*:*:*:db_app:yes', password: 'yes', reason: 'another port does not fit' },
    { text: '*:*:other:*:no\n*:*:registry:*:yes', password: 'yes', reason: 'another database does not fit' },
    { text: '*:*:*:*:first\n*:*:*:db_app:second', password: 'first', reason: 'the order counts, not the precision' },
    { text: '# *:*:*:*:no\n\n*:*:*:*:yes', password: 'yes', reason: 'comments and empty lines are passed over' },
    { text: '*:*:*:*:a:b', password: 'a:b', reason: 'the password is all that follows' },
    { text: '*:*:*:*:a\\:b\\\\c\\d', password: 'a:b\\cd', reason: 'a backslash takes the next character' },
    { text: '*:*:*:*: spaced ', password: ' spaced ', reason: 'blanks are part of it' },
    { text: '*:*:*:*:windows\r\n', password: 'windows', reason: 'the line may end as on Windows' },
    { text: '\\*:*:*:*:no', password: undefined, reason: 'an escaped star is a star' },
    { text: 'db.example.com:5432:registry', password: undefined, reason: 'a line with fewer fields fits nothing' },
    { text: 'DB.example.com:*:*:*:no', password: undefined, reason: 'letters are compared exactly' },
    { text: '', password: undefined, reason: 'an empty file has none' },
  ])('$reason', ({ text, password }) => {
    expect(findPassword(text, CONNECTION)).toBe(password);
  });

  test('backslashes escape a colon or backslash in a field', () => {
    const text = 'fe80\\:\\:1:*:a\\\\b:*:secret';
    expect(findPassword(text, { ...CONNECTION, host: 'fe80::1', database: 'a\\b' })).toBe('secret');
  });
});

describe('the file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'skep-pgpass-'));
  const file = join(dir, 'pgpass');
  writeFileSync(file, '*:*:*:*:secret\n', { mode: 0o600 });
  afterAll(() => rmSync(dir, { recursive: true }));

  async function failureOf(path: string): Promise<string> {
    try {
      return `read: ${await readPassword(path, CONNECTION)}`;
    } catch (failure) {
      return failure instanceof Failure ? `${failure.code}: ${failure.message}` : String(failure);
    }
  }

  test('is read if only its owner may read it', async () => {
    expect(await failureOf(file)).toBe('read: secret');
  });

  test('is refused if others may read it, and the message does not contain the password', async () => {
    chmodSync(file, 0o644);
    const said = await failureOf(file);
    chmodSync(file, 0o600);
    expect(said).toBe(
      `database-passfile-unreadable: password file ${file} is open to other users: its mode must be 0600, or stricter, or 0640 if it is root's`,
    );
  });

  test.each([
    { mode: 0o100440, uid: 0, open: false, reason: 'a Secret that Kubernetes has mounted for a group' },
    { mode: 0o100640, uid: 0, open: false, reason: 'the same, and its owner may write it' },
    { mode: 0o100660, uid: 0, open: true, reason: 'its group may write it' },
    { mode: 0o100444, uid: 0, open: true, reason: 'everybody may read it' },
    { mode: 0o100440, uid: 1000, open: true, reason: 'somebody who is not root lets a group read it' },
    { mode: 0o100400, uid: 1000, open: false, reason: 'its owner alone reads it' },
  ])('$reason: open is $open', ({ mode, uid, open }) => {
    expect(isOpen({ mode, uid })).toBe(open);
  });

  test('is reported if it is missing', async () => {
    expect(await failureOf(join(dir, 'none'))).toBe(
      `database-passfile-unreadable: password file ${join(dir, 'none')} cannot be read`,
    );
  });
});
