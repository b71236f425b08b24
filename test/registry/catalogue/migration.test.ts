// A database that no one has migrated: the run that syncs into it does, and the service that reads from it; a plan does
// not. All against real PostgreSQL databases that are empty.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readMigrationStatus } from '#adapters/postgres/migrate.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { systemClock } from '#hosts/clock.ts';
import { type RunningMigration, startMigration } from '#hosts/registry/migration.ts';
import { formatProblem } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase('empty');
});
afterEach(() => database.drop());

async function pending(): Promise<string[]> {
  const statuses = await readMigrationStatus(database.migrator);
  return statuses.filter(({ state }) => state !== 'applied').map(({ name, state }) => `${name} ${state}`);
}

describe('a run', () => {
  let world: World;
  let instance: InstanceFolder;

  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.close());
  afterEach(() => instance.remove());

  test('migrates the database of the instance, a plan does not', async () => {
    instance = instanceFolder(world, database);
    world.fleet.commit({ 'cluster/registry.yaml': manifests('a', 'none') });
    const plan = await instance.run('plan');
    expect([plan.code, plan.stderr]).toEqual([0, '']);
    expect(await pending()).not.toEqual([]);
    const sync = await instance.run('sync');
    expect(sync.stdout).toContain('registry default/a/all: synced, 1 server');
    expect(await pending()).toEqual([]);
  });

  test('migrates the database that an MCPRegistry names, with the password of its migration user', async () => {
    instance = instanceFolder(world);
    world.fleet.commit({ 'cluster/registry.yaml': manifests('b', 'own') });
    const sync = await instance.run('sync');
    expect(sync.stderr).toBe('');
    expect(sync.stdout).toContain('registry default/b/all: synced, 1 server');
    expect(await pending()).toEqual([]);
  });

  function manifests(name: string, own: 'own' | 'none'): string {
    const { app, migrator } = database;
    const servers = JSON.stringify({ servers: { clock: { description: 'Tells the time', image: 'clock:1' } } });
    const secret = `${name}-passwords`;
    const databaseConfig = {
      ...databaseSettings(database),
      dbAppUserPasswordSecretRef: { name: secret, key: 'app' },
      dbMigrationUserPasswordSecretRef: { name: secret, key: 'migration' },
    };
    const named = `\n  databaseConfig: ${JSON.stringify(databaseConfig)}`;
    return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: ${name}, namespace: default}
spec:
  registries: [{name: all, configMapRef: {name: ${name}-data, key: registry.json}}]${own === 'own' ? named : ''}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}-data, namespace: default}
data: {registry.json: '${servers}'}
---
apiVersion: v1
kind: Secret
metadata: {name: ${secret}, namespace: default}
stringData: {app: "${app.password}", migration: "${migrator.password}"}
`;
  }
});

describe('a service', () => {
  let dir: string;
  let logs: string[];
  const running: RunningMigration[] = [];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'skep-migration-'));
    logs = [];
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function configOf(passwords: Readonly<Record<string, string | undefined>>, port = database.app.port): RegistryConfig {
    const passFile = join(dir, 'pgpass');
    writeFileSync(
      passFile,
      Object.entries(passwords)
        .map(([user, password]) => `*:*:*:${user}:${password}\n`)
        .join(''),
    );
    chmodSync(passFile, 0o600);
    const settings = JSON.stringify({ ...databaseSettings(database), port, passFile });
    const read = readRegistryConfig(
      `registries: [{name: a, managed: {}}]
auth: {mode: anonymous}
database: ${settings}`,
      'registry.yaml',
    );
    if ('problems' in read) throw new Error(read.problems.map(formatProblem).join('\n'));
    return read.config;
  }

  async function start(config: RegistryConfig): Promise<void> {
    const logger = pino({ level: 'info' }, { write: (line) => logs.push(line) });
    running.push(
      await startMigration(config, {
        logger,
        clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(20, signal) },
      }),
    );
  }

  const both = () => ({
    [database.app.user]: database.app.password,
    [database.migrator.user]: database.migrator.password,
  });

  test('migrates its database when it starts, however many replicas start at once', async () => {
    const config = configOf(both());
    await Promise.all([start(config), start(config), start(config)]);
    expect(await pending()).toEqual([]);
    expect(logs.filter((line) => line.includes('was migrated'))).toHaveLength(1);
  });

  test('whose migration user is not let in leaves it to others, and says so', async () => {
    const config = configOf(both());
    await start({ ...config, database: { ...config.database, migrationUser: 'nobody_knows' } });
    expect(logs.join('')).toMatch(/database-auth.*is left to another process/);
    expect(await pending()).not.toEqual([]);
  });

  test('leaves the schema of a newer release as it is', async () => {
    await start(configOf(both()));
    await database.sql("insert into skep_migrations (name, sha256) values ('9999-later.sql', 'x')");
    await start(configOf(both()));
    expect(logs.join('')).toMatch(/database-migration-unknown.*is left to another process/);
  });

  test('that finds no database migrates it as soon as it is there', async () => {
    const config = configOf(both(), 1);
    const place = { ...config.database };
    await start({ ...config, database: place });
    expect(logs.join('')).toContain('database-unreachable');
    Object.assign(place, { port: database.app.port });
    await eventually(pending, (names) => names.length === 0);
  });

  test('stops where a migration cannot be', async () => {
    await database.sql('create table catalogue_entry (mine text)');
    await expect(start(configOf(both()))).rejects.toMatchObject({ code: 'database-migration-failed' });
  });
});
