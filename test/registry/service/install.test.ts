// The database of manifests/install/postgres and the registry service of manifests/install/registry: the script of the one
// makes what the other needs, and the service works without the password of the migration user.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { startServer } from '#adapters/postgres/embedded/server.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { createCluster } from '../../harness/postgres-server.ts';
import { startSkep } from '../../harness/skep.ts';

const INSTALL = fileURLToPath(new URL('../../../manifests/install', import.meta.url));
const hasPsql = spawnSync('psql', ['--version']).status === 0;
if (!hasPsql) process.stderr.write('the users of manifests/install/postgres are not made: put psql on PATH\n');

/** As a mounted Secret: of root, for a group; only root may make such a file. */
const SECRET_MODE = process.getuid?.() === 0 ? 0o440 : 0o400;
const PASSWORDS = { postgres: 'super', migrator: "it's a\\ migrator", app: 'an "app"' };

describe.skipIf(!hasPsql)('a registry service that stands alone', async () => {
  const folder = temporaryFolder();
  const cluster = hasPsql ? await createCluster() : undefined;
  afterAll(() => {
    cluster?.remove();
    folder.remove();
  });

  test('gets its tables by the migration user, and serves without its password', async () => {
    if (cluster === undefined) throw new Error('no database');
    const secrets = join(folder.path, 'secrets');
    mkdirSync(secrets);
    for (const [name, text] of Object.entries(PASSWORDS)) writeFileSync(join(secrets, name), `${text}\n`);
    const access = 'host all postgres all trust\nhost all all all scram-sha-256\n';
    writeFileSync(join(cluster.options.dataDir, 'pg_hba.conf'), access);
    const database = await startServer(cluster.options);
    const { host, port } = database;
    const script = readFileSync(join(INSTALL, 'postgres/users.sh'), 'utf8').replaceAll('/secrets', secrets);
    const login = { PGHOST: host, PGPORT: String(port), POSTGRES_USER: 'postgres' };
    execFileSync('sh', ['-c', script], { env: { PATH: process.env.PATH, ...login }, stdio: 'pipe' });

    const passFile = (user: string, password: string) => {
      const path = join(secrets, `${user}.pgpass`);
      writeFileSync(path, `*:*:*:${user}:${password.replaceAll('\\', '\\\\')}\n`, { mode: SECRET_MODE });
      return { SKEP_REGISTRY_DATABASE_PASSFILE: path };
    };
    const settings = {
      SKEP_REGISTRY_DATABASE_HOST: host,
      SKEP_REGISTRY_DATABASE_PORT: String(port),
      SKEP_REGISTRY_DATADIR: folder.path,
      SKEP_REGISTRY_LISTEN: JSON.stringify({ host: '127.0.0.1', port: 0 }),
      SKEP_REGISTRY_METRICS: JSON.stringify({ host: '127.0.0.1', port: 0 }),
    };
    const config = ['-c', join(INSTALL, 'registry/registry.yaml')];
    const asMigrator = { ...settings, ...passFile('db_migrator', PASSWORDS.migrator) };
    const migrated = await startSkep(['migrate', 'up', ...config], { cwd: folder.path, env: asMigrator }).finished;
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('applied 0001-catalogue.sql') });

    const asApp = { ...settings, ...passFile('db_app', PASSWORDS.app) };
    const service = startSkep(['serve', ...config], { cwd: folder.path, env: asApp });
    const [, url] = /^serving (\S+)$/m.exec(await service.printed('serving ')) ?? [];
    expect((await fetch(`${url}/readiness`)).status).toBe(200);
    expect((await fetch(`${url}/catalogue/v0.1/servers`)).status).toBe(401);
    service.kill('SIGTERM');
    expect((await service.finished).code).toBe(0);

    const app = new pg.Client({ host, port, database: 'registry', user: 'db_app', password: PASSWORDS.app });
    await app.connect();
    await expect(app.query('select count(*) from catalogue_entry')).resolves.toBeDefined();
    await expect(app.query('create table mine (a int)')).rejects.toThrow('permission denied');
    await app.end();
    await database.stop();
  });
});
