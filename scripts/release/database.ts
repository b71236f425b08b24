// What a release leaves in a database, and what its registry service asks of it and answers.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbedded } from '#adapters/postgres/embedded/embedded.ts';
import { startTestCluster } from '../../test/harness/cluster.ts';
import { startGitServer } from '../../test/harness/git-server.ts';
import type { Release } from './checkout.ts';
import { atHome, putUp, settingsOf } from './cluster.ts';
import { fleetOf, REGISTRY } from './manifests.ts';

const LOGINS = {
  migrator: { user: 'db_migrator', password: 'migrator' },
  app: { user: 'db_app', password: 'app' },
};

export async function recordDatabase(release: Release, dir: string): Promise<Record<string, unknown>> {
  mkdirSync(dir, { recursive: true });
  const [cluster, git] = await Promise.all([startTestCluster(), startGitServer()]);
  const database = await startEmbedded({ dir: join(dir, 'postgres'), database: 'registry', ...LOGINS });
  try {
    const settings = databaseSettings(database, join(dir, 'pgpass'));
    await putUp(cluster, release);
    const kubeconfig = atHome(cluster.kubeconfigPath, join(dir, 'kubeconfig'));
    writeFileSync(join(dir, 'skep.yaml'), JSON.stringify(settingsOf({ git, kubeconfig, database: settings })));
    const repository = git.createRepository('fleet.git');
    const log = join(dir, 'queries');
    const watched = watchedBy(release, log);
    for (const files of fleetOf(release).slice(0, 2)) {
      repository.commit(files);
      await release.skep(dir, ['sync'], [0], watched);
    }
    const answers = await serve(release, dir, settings, watched);
    return { rows: await rowsOf(database), answers, queries: queriesIn(log) };
  } finally {
    await database.stop();
    await Promise.all([cluster.stop(), git.close()]);
  }
}

function databaseSettings({ app }: EmbeddedDatabase, passFile: string): Record<string, unknown> {
  const lines = Object.values(LOGINS).map(({ user, password }) => `*:*:*:${user}:${password}\n`);
  writeFileSync(passFile, lines.join(''), { mode: 0o600 });
  const { host, port, database, user } = app;
  return { host, port, database, user, migrationUser: LOGINS.migrator.user, sslMode: 'disable', passFile };
}

/** Writes down what is sent to PostgreSQL. A copy beside the release's code, so that both mean the same `pg`. */
function watchedBy({ dir }: Release, log: string): NodeJS.ProcessEnv {
  const hook = join(dir, 'query-log.ts');
  copyFileSync(new URL('./query-log.ts', import.meta.url), hook);
  return { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`, SKEP_QUERY_LOG: log };
}

/** The paths that clients ask for, below the registry. */
const PATHS = [
  '/v0.1/servers',
  '/v0.1/servers?limit=2',
  '/v0.1/servers?search=wiki',
  '/v0.1/servers?version=latest&include_deleted=true',
  '/v0.1/servers?updated_since=2020-01-01T00%3A00%3A00Z',
  '/v0.1/x/dev.skep/facets',
];

async function serve(release: Release, dir: string, database: Record<string, unknown>, environment: NodeJS.ProcessEnv) {
  writeFileSync(join(dir, 'registry.yaml'), JSON.stringify(serviceSettings(database)));
  const service = await release.start(dir, ['serve', '-c', 'registry.yaml'], 'serving ', environment);
  try {
    const base = /serving (\S+)/.exec(service.output)?.[1];
    const answers: unknown[] = [];
    const servers = await namesAt(`${base}/all/v0.1/servers`);
    const single = servers.slice(0, 1).map((name) => `/v0.1/servers/${encodeURIComponent(name)}/versions`);
    for (const path of [...PATHS, ...single, ...single.map((each) => `${each}/latest`)]) {
      for (const registry of ['all', 'wiki']) {
        const answer = await fetch(`${base}/${registry}${path}`);
        answers.push({ path: `/${registry}${path}`, status: answer.status, body: await answer.json() });
      }
    }
    // Left for the reconciler.
    const asked = await fetch(`${base}/extension/v0/registries/all/sync`, { method: 'POST' });
    if (asked.status !== 202) throw new Error(`no manual sync: ${asked.status} ${await asked.text()}`);
    return answers;
  } finally {
    await service.stop();
  }
}

export function serviceSettings(database: Record<string, unknown>): Record<string, unknown> {
  return {
    registryName: REGISTRY.name,
    namespace: REGISTRY.namespace,
    listen: { host: '127.0.0.1', port: 0 },
    registries: ['all', 'wiki'].map((name) => ({
      name,
      format: 'toolhive',
      file: { path: '/config/registry.json' },
      syncedBy: 'reconciler',
    })),
    database,
    auth: { mode: 'anonymous' },
  };
}

async function namesAt(url: string): Promise<readonly string[]> {
  const { servers } = (await (await fetch(url)).json()) as { servers: { server: { name: string } }[] };
  return servers.map(({ server }) => server.name);
}

/** Every statement once, with what it was given first. */
function queriesIn(log: string): readonly unknown[] {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const queries = lines.map((line) => JSON.parse(line) as { readonly text: string });
  const first = new Map(queries.toReversed().map((query) => [query.text, query]));
  return [...first.values()].toReversed().filter(({ text }) => !NOT_OF_REPLICAS.test(text));
}

/** Transactions, and what only migrations do. */
const NOT_OF_REPLICAS =
  /^(begin|commit|rollback|set |grant |create |--)|pg_try_advisory_lock|skep_migrations|pg_tables/i;

/** Of every table, as JSON. */
async function rowsOf({ migrator }: EmbeddedDatabase): Promise<Record<string, unknown>> {
  const client = new pg.Client({ ...migrator, ssl: false });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      'select tablename as name from pg_tables where schemaname = current_schema() order by tablename',
    );
    const rows: [string, unknown][] = [];
    for (const { name } of tables.rows) {
      const found = await client.query<{ row: unknown }>(
        `select to_json(t) as row from ${pg.escapeIdentifier(name)} t`,
      );
      rows.push([name, found.rows.map(({ row }) => row)]);
    }
    return Object.fromEntries(rows);
  } finally {
    await client.end();
  }
}
