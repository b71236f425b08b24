import { afterEach, expect, test, vi } from 'vitest';
import { withFiles } from './database.ts';

afterEach(() => vi.unstubAllEnvs());

const ADDRESS = { host: 'postgres', port: 5432, user: 'db_app', database: 'registry', sslMode: 'verify-ca' } as const;

test("files that the settings do not name come from libpq's environment variables", () => {
  expect(withFiles(ADDRESS)).toEqual(ADDRESS);
  vi.stubEnv('PGPASSFILE', '/env/pgpass');
  vi.stubEnv('PGSSLROOTCERT', '/env/root.crt');
  expect(withFiles(ADDRESS)).toEqual({ ...ADDRESS, passFile: '/env/pgpass', caFile: '/env/root.crt' });
  const own = { ...ADDRESS, passFile: '/own/pgpass', caFile: '/own/root.crt' };
  expect(withFiles(own)).toEqual(own);
});
