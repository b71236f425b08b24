// What MCPRegistry writes as a password file is what the database adapter reads.

import { expect, it } from 'vitest';
import { findPassword } from '#contracts/pgpass.ts';
import { MCPRegistry } from '#reconciler/kinds/mcpregistry/index.ts';
import { passwordFile } from '#reconciler/kinds/mcpregistry/pgpass.ts';
import { SETTINGS, viewOf } from './fixture.ts';

const SETTINGS_OF_DATABASE = {
  host: '2001:db8::1',
  port: 5432,
  user: 'app',
  migrationUser: 'a:b\\c',
  database: 'regi:stry',
  sslMode: 'prefer',
  maxOpenConns: 1,
  maxIdleConns: 0,
  connMaxLifetime: '1m',
} as const;
const DATABASE = {
  settings: SETTINGS_OF_DATABASE,
  passwords: { app: { name: 'db', key: 'app' }, migration: { name: 'db', key: 'migrator' } },
};

const PASSWORDS = ['plain', ':', '\\', 'a\\:b:c\\\\', ' spaces ', '#hash', 'ümläut', '*'];

it.each(PASSWORDS)('the password %j comes back', (password) => {
  const data = {
    app: Buffer.from(`${password}\n`).toString('base64'),
    migrator: Buffer.from(`m${password}`).toString('base64'),
  };
  const view = viewOf([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, data }]);
  const text = passwordFile(DATABASE, view) ?? '';
  const { host, port, database, user, migrationUser } = SETTINGS_OF_DATABASE;
  expect(findPassword(text, { host, port, database, user })).toBe(password);
  expect(findPassword(text, { host, port, database, user: migrationUser })).toBe(`m${password}`);
  expect(findPassword(text, { host, port, database, user: 'somebody else' })).toBeUndefined();
});

it('there is no file without both passwords', () => {
  const view = viewOf([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { app: 'a' } }]);
  expect(passwordFile(DATABASE, view)).toBeUndefined();
});

const WITHOUT_DATABASE = {
  apiVersion: 'toolhive.stacklok.dev/v1alpha1',
  kind: 'MCPRegistry',
  metadata: { name: 'catalogue', namespace: 'agents' },
  spec: { registries: [{ name: 'all', format: 'upstream', api: { endpoint: 'https://r.example.com' } }] },
};

it('a registry without a database of its own uses what stands beside it, where skep.yaml says so', () => {
  const services = {
    passFileSecret: { name: 'catalogue-login', key: 'pgpass' },
    caConfigMap: { name: 'catalogue-ca', key: 'ca.crt' },
  };
  const catalogueDatabase = { host: 'db.example.com', passFile: '/secrets/pgpass', caFile: '/secrets/ca', services };
  const children = MCPRegistry.children(WITHOUT_DATABASE, viewOf([]), { ...SETTINGS, catalogueDatabase });
  const text = JSON.stringify(children);
  expect(children.map(({ kind }) => kind)).not.toContain('Secret');
  expect(text).toContain('caFile: /config/certs/catalogue-ca/ca.crt');
  expect(text).not.toContain('/secrets/');
  expect(text).toContain('{"name":"PGPASSFILE","value":"/home/appuser/.pgpass"}');
  expect(text).toContain('{"secretName":"catalogue-login","items":[{"key":"pgpass","path":".pgpass"}]}');
  expect(text).toContain('{"name":"catalogue-ca","items":[{"key":"ca.crt","path":"ca.crt"}]}');
});

it('a registry without a database of its own, and without such objects, has no password', () => {
  const catalogueDatabase = { host: 'db.example.com', passFile: '/secrets/pgpass' };
  const text = JSON.stringify(MCPRegistry.children(WITHOUT_DATABASE, viewOf([]), { ...SETTINGS, catalogueDatabase }));
  expect(text).not.toMatch(/PGPASSFILE|caFile|passFile/);
});
