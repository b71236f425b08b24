// Tests connections to a real PostgreSQL: TLS modes as in libpq, passwords, sockets. In one file, because all tests
// share the server and its certificates.

import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SslMode } from '#contracts/database-fields.ts';
import { createAuthority, createServerCertificate } from '#kubernetes/devcluster/identity/certificate.ts';
import { Failure } from '#std/failure.ts';
import { type Cluster, createCluster } from '../../../test/harness/postgres-server.ts';
import { connect, type DatabaseAddress } from './connect.ts';
import { type PostgresServer, startServer } from './embedded/server.ts';

/** Users of the two servers, and the authentication that pg_hba.conf requires for each. */
const RULES = `
hostssl all only_tls all trust
hostnossl all only_plain all trust
host all with_password all scram-sha-256
host all with_md5 all md5
host all with_cleartext all password
host all postgres all trust
local all all scram-sha-256
`;
const PASSWORD = 'sesame: "öffne" dich';

let cluster: Cluster;
let withTls: PostgresServer;
let withoutTls: PostgresServer;
let plainCluster: Cluster;
let ca: string;
let otherCa: string;
let passFile: string;

beforeAll(async () => {
  [cluster, plainCluster] = await Promise.all([createCluster(), createCluster()]);
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const authority = createAuthority('skep test authority', validity);
  const identity = createServerCertificate(authority, 'skep test authority', ['localhost'], validity);
  ca = file('ca.pem', authority.certificate);
  otherCa = file('other.pem', createAuthority('another authority', validity).certificate);
  passFile = file('pgpass', `*:*:*:with_password:${PASSWORD.replaceAll(':', '\\:')}\n`);
  const settings = {
    ...cluster.options.settings,
    unix_socket_directories: cluster.home,
    ssl: 'on',
    ssl_cert_file: file('server.pem', identity.certificate, true),
    ssl_key_file: file('server.key', identity.privateKey, true),
  };
  for (const { options } of [cluster, plainCluster]) {
    writeFileSync(join(options.dataDir, 'pg_hba.conf'), RULES);
  }
  [withTls, withoutTls] = await Promise.all([
    startServer({ ...cluster.options, settings }),
    startServer(plainCluster.options),
  ]);
  for (const server of [withTls, withoutTls]) await createUsers(server);
});

afterAll(async () => {
  await Promise.all([withTls?.stop(), withoutTls?.stop()]);
  cluster?.remove();
  plainCluster?.remove();
});

function file(name: string, text: string, forServer = false): string {
  const path = join(cluster.home, name);
  writeFileSync(path, text, { mode: 0o600 });
  const { account } = cluster.options;
  if (forServer && account !== undefined) chownSync(path, account.uid, account.gid);
  return path;
}

async function createUsers(server: PostgresServer): Promise<void> {
  const { client } = await connect(addressOf(server, 'postgres', 'disable'));
  for (const user of ['only_tls', 'only_plain']) await client.query(`create role ${user} login`);
  for (const user of ['with_password', 'with_md5', 'with_cleartext']) {
    await client.query(`set password_encryption = '${user === 'with_md5' ? 'md5' : 'scram-sha-256'}'`);
    await client.query(`create role ${user} login password '${PASSWORD}'`);
  }
  await client.end();
}

function addressOf(server: PostgresServer, user: string, sslMode: SslMode): DatabaseAddress {
  return { host: server.host, port: server.port, user, database: 'postgres', sslMode };
}

/** Returns `TLS` or `plain`, as the server reports the connection. After a Failure, returns its code and message. */
async function check(address: DatabaseAddress): Promise<string> {
  try {
    const { client } = await connect(address);
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    await client.end();
    return rows[0].ssl ? 'TLS' : 'plain';
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    expect(failure.message).not.toContain(PASSWORD);
    return failure.code;
  }
}

describe('sslMode has the same meaning as in libpq', () => {
  test.each<{ mode: SslMode; server: 'TLS' | 'no TLS'; user: string; expected: string; reason: string }>([
    { mode: 'disable', server: 'TLS', user: 'postgres', expected: 'plain', reason: 'never TLS' },
    { mode: 'disable', server: 'TLS', user: 'only_tls', expected: 'database-auth', reason: 'never TLS' },
    { mode: 'allow', server: 'TLS', user: 'postgres', expected: 'plain', reason: 'without TLS first' },
    { mode: 'allow', server: 'TLS', user: 'only_tls', expected: 'TLS', reason: 'with TLS if it is refused without' },
    { mode: 'allow', server: 'no TLS', user: 'postgres', expected: 'plain', reason: 'without TLS first' },
    {
      mode: 'allow',
      server: 'no TLS',
      user: 'only_tls',
      expected: 'database-tls',
      reason: 'there is no TLS to fall back to',
    },
    { mode: 'prefer', server: 'TLS', user: 'postgres', expected: 'TLS', reason: 'with TLS first' },
    {
      mode: 'prefer',
      server: 'TLS',
      user: 'only_plain',
      expected: 'plain',
      reason: 'without TLS if it is refused with',
    },
    {
      mode: 'prefer',
      server: 'no TLS',
      user: 'postgres',
      expected: 'plain',
      reason: 'without TLS if there is none',
    },
    { mode: 'require', server: 'TLS', user: 'postgres', expected: 'TLS', reason: 'any certificate will do' },
    { mode: 'require', server: 'TLS', user: 'only_plain', expected: 'database-auth', reason: 'no way back' },
    { mode: 'require', server: 'no TLS', user: 'postgres', expected: 'database-tls', reason: 'no way back' },
    {
      mode: 'verify-ca',
      server: 'TLS',
      user: 'postgres',
      expected: 'database-tls',
      reason: 'without caFile it would prove nothing',
    },
    {
      mode: 'verify-full',
      server: 'TLS',
      user: 'postgres',
      expected: 'database-tls',
      reason: 'no public authority signed it',
    },
  ])('$mode, a server with $server, user $user: $expected, $reason', async ({ mode, server, user, expected }) => {
    expect(await check(addressOf(server === 'TLS' ? withTls : withoutTls, user, mode))).toBe(expected);
  });

  test.each<{ mode: SslMode; host: string; signer: 'ours' | 'another'; expected: string; reason: string }>([
    { mode: 'verify-full', host: 'localhost', signer: 'ours', expected: 'TLS', reason: 'chain and name fit' },
    {
      mode: 'verify-full',
      host: '127.0.0.1',
      signer: 'ours',
      expected: 'database-tls',
      reason: 'the certificate is for another name',
    },
    {
      mode: 'verify-full',
      host: 'localhost',
      signer: 'another',
      expected: 'database-tls',
      reason: 'somebody else signed it',
    },
    { mode: 'verify-ca', host: '127.0.0.1', signer: 'ours', expected: 'TLS', reason: 'the name does not count' },
    {
      mode: 'verify-ca',
      host: 'localhost',
      signer: 'another',
      expected: 'database-tls',
      reason: 'somebody else signed it',
    },
    { mode: 'require', host: '127.0.0.1', signer: 'ours', expected: 'TLS', reason: 'the chain fits' },
    {
      mode: 'require',
      host: '127.0.0.1',
      signer: 'another',
      expected: 'database-tls',
      reason: 'with caFile the chain counts',
    },
    { mode: 'prefer', host: '127.0.0.1', signer: 'another', expected: 'plain', reason: 'it falls back all the same' },
  ])(
    '$mode with caFile, host $host, signed by $signer: $expected, $reason',
    async ({ mode, host, signer, expected }) => {
      const caFile = signer === 'ours' ? ca : otherCa;
      expect(await check({ ...addressOf(withTls, 'postgres', mode), host, caFile })).toBe(expected);
    },
  );

  test('if the attempts with and without TLS fail, both errors are reported', async () => {
    const failure = await connect(addressOf(withoutTls, 'only_tls', 'prefer')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'database-auth' });
    expect(String(failure)).toMatch(/no pg_hba\.conf entry.*\(tried before: .*the server offers no TLS\)/);
  });

  test.each<{ mode: SslMode; signer: 'ours' | 'another'; expected: string }>([
    { mode: 'verify-ca', signer: 'ours', expected: 'TLS' },
    { mode: 'verify-ca', signer: 'another', expected: 'database-tls' },
  ])('$mode with the certificates as text, signed by $signer: $expected', async ({ mode, signer, expected }) => {
    const text = readFileSync(signer === 'ours' ? ca : otherCa, 'utf8');
    expect(await check({ ...addressOf(withTls, 'postgres', mode), ca: text, caFile: '/no/such/file' })).toBe(expected);
  });

  test('the message about a missing caFile contains its path', async () => {
    const caFile = join(cluster.home, 'none.pem');
    const failure = await connect({ ...addressOf(withTls, 'postgres', 'require'), caFile }).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toContain(`caFile ${caFile} cannot be read`);
  });
});

describe('a password', () => {
  test.each(['with_password', 'with_md5', 'with_cleartext'])(
    'is sent with the method that the server requires: %s',
    async (user) => {
      expect(await check({ ...addressOf(withTls, user, 'prefer'), password: PASSWORD })).toBe('TLS');
      expect(await check({ ...addressOf(withTls, user, 'prefer'), password: 'wrong' })).toBe('database-auth');
    },
  );

  test('is read from the password file at each connection', async () => {
    expect(await check({ ...addressOf(withTls, 'with_password', 'disable'), passFile })).toBe('plain');
    expect(await check({ ...addressOf(withTls, 'with_password', 'disable'), passFile, password: 'wrong' })).toBe(
      'database-auth',
    );
  });

  test.each([
    { settings: {}, says: 'the server requires a password, and no password file is configured' },
    { settings: { user: 'with_md5', passFile: 'the file' }, says: 'pgpass has no line for it' },
  ])('that is missing is reported with one message: $says', async ({ settings, says }) => {
    const address = { ...addressOf(withTls, 'with_password', 'disable'), ...settings };
    const own = 'passFile' in settings ? { ...address, passFile } : address;
    const failure = await connect(own).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'database-auth' });
    expect(String(failure)).toContain(says);
  });

  test('and its file are not read if the server requires no password', async () => {
    expect(await check({ ...addressOf(withTls, 'postgres', 'disable'), passFile: '/nowhere' })).toBe('plain');
  });
});

test('a host that is a directory means a Unix socket with any sslMode, and the password file can contain it', async () => {
  const address = { ...addressOf(withTls, 'with_password', 'verify-full'), host: cluster.home };
  expect(await check({ ...address, passFile })).toBe('plain');
  expect(await check({ ...address, port: address.port + 1, passFile })).toBe('database-unreachable');
});

test('the message about an unknown database contains its name', async () => {
  const failure = await connect({ ...addressOf(withTls, 'postgres', 'prefer'), database: 'none' }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: 'database-not-found', message: expect.stringContaining('/none: ') });
});
