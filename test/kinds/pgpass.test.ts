// What MCPRegistry writes as a password file is what the database adapter reads.

import { expect, it } from 'vitest';
import { findPassword } from '../../src/adapters/postgres/pgpass.ts';
import { passwordFile } from '../../src/kinds/mcpregistry/pgpass.ts';
import { viewOf } from './fixture.ts';

const DATABASE = {
  host: '2001:db8::1',
  port: 5432,
  user: 'app',
  migrationUser: 'a:b\\c',
  database: 'regi:stry',
  sslMode: 'prefer',
  maxOpenConns: 1,
  maxIdleConns: 0,
  connMaxLifetime: '1m',
  dbAppUserPasswordSecretRef: { name: 'db', key: 'app' },
  dbMigrationUserPasswordSecretRef: { name: 'db', key: 'migrator' },
} as const;

const PASSWORDS = ['plain', ':', '\\', 'a\\:b:c\\\\', ' spaces ', '#hash', 'ümläut', '*'];

it.each(PASSWORDS)('the password %j comes back', (password) => {
  const data = {
    app: Buffer.from(`${password}\n`).toString('base64'),
    migrator: Buffer.from(`m${password}`).toString('base64'),
  };
  const view = viewOf([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, data }]);
  const text = passwordFile(DATABASE, view) ?? '';
  const { host, port, database, user, migrationUser } = DATABASE;
  expect(findPassword(text, { host, port, database, user })).toBe(password);
  expect(findPassword(text, { host, port, database, user: migrationUser })).toBe(`m${password}`);
  expect(findPassword(text, { host, port, database, user: 'somebody else' })).toBeUndefined();
});

it('there is no file without both passwords', () => {
  const view = viewOf([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { app: 'a' } }]);
  expect(passwordFile(DATABASE, view)).toBeUndefined();
});
