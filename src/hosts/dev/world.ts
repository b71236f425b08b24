// Opens the surroundings of `skep dev`: a cluster with our CRDs, a database with its schema, the sample repository, the
// configuration.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { writeRepository } from '#adapters/git/write.ts';
import { type EmbeddedDatabase, startEmbedded } from '#adapters/postgres/embedded/embedded.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import type { DatabaseSettings } from '#adapters/postgres/pool.ts';
import { type Devcluster, startDevcluster } from '#kubernetes/devcluster/devcluster.ts';
import type { Node, NodeOptions } from '#kubernetes/devcluster/node/node.ts';
import type { FindProgram } from '#kubernetes/devcluster/node/ports.ts';
import { writePrivately } from '#kubernetes/devcluster/storage/private-file.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { countText } from '#std/words/count-text.ts';
import { systemClock } from '../clock.ts';
import { DEFAULT_API_GROUP } from '../config/api-group.ts';
import type { Config } from '../config/config.ts';
import { DEV_SETTINGS_HEAD } from '../config/dev-cluster.ts';
import { readConfig } from '../config/read-config.ts';
import { VERSION } from '../version.ts';
import { openIssuer, SAMPLE_ISSUER } from './issuer/open.ts';

export interface DevWorld {
  readonly config: Config;
  readonly clusterUrl: string;
  readonly kubeconfig: string;
  /** Folder of the state. */
  readonly dir: string;
  /** The sample repository, with a work tree to commit in; undefined if the configuration names other repositories. */
  readonly fleetDir: string | undefined;
  /** Settings with which the registry service uses the database. */
  readonly appDatabase: DatabaseSettings;
  /** File with the token for calls of servers. */
  readonly tokenFile: string;
  /** Settings with which other commands find this cluster: `skep approve -c FILE`. */
  readonly configFile: string;
  /** The node; undefined if no workloads run. */
  readonly node: Node | undefined;
  /** Tells the node that images have other programs than before. */
  programsChanged(): void;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly dir: string;
  readonly say: (text: string) => void;
  /** Finds the programs that run on this machine. If absent, no programs run. */
  readonly find?: FindProgram;
  /** No pod starts before this resolves. */
  readonly begin: Promise<void>;
  /** Configuration with the sources. If absent, the source is the sample. */
  readonly given?: Config;
}

/** `src/hosts/dev/` and `dist/hosts/dev/` are equally far from the root of the package. */
const SAMPLE = fileURLToPath(new URL('../../../manifests/fleet', import.meta.url));
/** URL of the repository in the manifests of the sample. Its real place is known only at the start. */
const SAMPLE_URL = 'file:///var/lib/skep/fleet';

export async function openDevWorld({ dir, say, find, begin, given }: WorldOptions): Promise<DevWorld> {
  const fleetDir = given === undefined ? join(dir, 'fleet') : undefined;
  const [cluster, database, issuer] = await allOrNone([
    openCluster(dir, given?.apiGroup ?? DEFAULT_API_GROUP, say, find && { find, begin }),
    openEmbedded(dir, say),
    openIssuer(dir, say),
  ]);
  async function close(): Promise<void> {
    await Promise.all([cluster.stop(), database.stop(), issuer.stop()]);
  }
  try {
    if (fleetDir !== undefined) await openFleet(fleetDir, issuer.url, say);
    const { kubeconfigPath: kubeconfig, url: clusterUrl } = cluster;
    const { passFile, app } = database;
    const config = configOf({ dir, fleetDir, given, kubeconfig, database: { ...app, passFile } });
    const { node, programsChanged } = cluster;
    const configFile = join(dir, 'skep.yaml');
    await writePrivately(configFile, `${DEV_SETTINGS_HEAD}${JSON.stringify(config, null, 2)}\n`);
    return {
      config,
      clusterUrl,
      kubeconfig,
      dir,
      fleetDir,
      appDatabase: { ...app, passFile },
      tokenFile: join(dir, 'token'),
      configFile,
      node,
      programsChanged,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Stoppable {
  stop(): Promise<void>;
}

/** Starts all parts. If a part cannot start, stops the started parts and throws the Failure. */
async function allOrNone<A extends Stoppable, B extends Stoppable, C extends Stoppable>(
  starting: [Promise<A>, Promise<B>, Promise<C>],
): Promise<[A, B, C]> {
  try {
    return await Promise.all(starting);
  } catch (error) {
    for (const result of await Promise.allSettled(starting)) {
      if (result.status === 'fulfilled') await result.value.stop();
    }
    throw error;
  }
}

async function openCluster(
  dir: string,
  apiGroup: string,
  say: (text: string) => void,
  running: Pick<NodeOptions, 'find' | 'begin'> | undefined,
): Promise<Devcluster> {
  const node = running && { ...running, path: process.env.PATH ?? '' };
  const cluster = await startDevcluster({ dir: clusterDir(dir), clock: systemClock, node });
  const { kubeconfigPath: kubeconfig } = cluster;
  try {
    const client = await connectCluster({
      kubeconfig,
      fieldManager: 'skep-crds',
      concurrency: 4,
      version: VERSION,
      clock: systemClock,
    });
    for (const kind of KINDS) await client.apply(crd(kind, apiGroup), { force: true });
    await client.close();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  say(`cluster at ${cluster.url}, ${KINDS.length} kinds of skep installed`);
  return cluster;
}

function clusterDir(dir: string): string {
  return join(dir, 'cluster');
}

/** Returns the path of the kubeconfig of the embedded cluster, also before it exists. */
export function kubeconfigIn(dir: string): string {
  return join(clusterDir(dir), 'kubeconfig');
}

interface DevDatabase extends EmbeddedDatabase {
  readonly passFile: string;
}

/** Creates new passwords at every start. The reconciler and the service read them from a password file, as in a pod. */
async function openEmbedded(dir: string, say: (text: string) => void): Promise<DevDatabase> {
  const migrator = { user: 'db_migrator', password: randomBytes(18).toString('base64url') };
  const app = { user: 'db_app', password: randomBytes(18).toString('base64url') };
  const database = await startEmbedded({ dir: join(dir, 'postgres'), database: 'registry', migrator, app });
  const passFile = join(dir, 'pgpass');
  try {
    await writePrivately(passFile, `*:*:*:${app.user}:${app.password}\n`);
    const applied = await migrate(database.migrator, { appUser: app.user });
    const { host, port } = database.app;
    say(
      `database at ${host}:${port}, ${applied.length === 0 ? 'schema up to date' : `${countText(applied.length, 'migration')} applied`}`,
    );
  } catch (error) {
    await database.stop();
    throw error;
  }
  return { ...database, passFile };
}

/**
 * Creates the repository from manifests/fleet the first time. Later starts leave it unchanged, because the user commits
 * to it.
 */
async function openFleet(fleetDir: string, issuerUrl: string, say: (text: string) => void): Promise<void> {
  if (existsSync(join(fleetDir, '.git'))) {
    say('sample repository exists and is kept unchanged');
    return;
  }
  const names = await readdir(SAMPLE, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    names
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const content = await readFile(path, 'utf8');
        const here = content.replaceAll(SAMPLE_URL, pathToFileURL(fleetDir).href).replaceAll(SAMPLE_ISSUER, issuerUrl);
        return { path: relative(SAMPLE, path), content: here };
      }),
  );
  const commit = await writeRepository(fleetDir, files, {
    message: 'The sample fleet',
    author: { name: 'skep', email: 'skep@localhost' },
    timestamp: Math.floor(systemClock.now() / 1000),
  });
  say(`sample repository created, commit ${commit.slice(0, 10)}`);
}

interface ConfigInput {
  readonly dir: string;
  readonly fleetDir: string | undefined;
  readonly given: Config | undefined;
  readonly kubeconfig: string;
  readonly database: DatabaseSettings;
}

/**
 * Replaces the cluster and the database of a configuration by the cluster and database of this machine. No receiver is
 * notified of the runs.
 */
function configOf({ dir, fleetDir = dir, given, kubeconfig, database }: ConfigInput): Config {
  const { host, port, user, database: name, passFile } = database;
  const config = {
    name: 'dev',
    apiGroup: DEFAULT_API_GROUP,
    sources: [{ name: 'fleet', repository: pathToFileURL(fleetDir).href, branch: 'main', path: 'cluster' }],
    schedule: '*/2 * * * * *',
    jitterSeconds: 0,
    cluster: { kubeconfig },
    outbound: { allowFiles: true, allowPrivate: ['127.0.0.0/8'] },
    stateDir: join(dir, 'state'),
    catalogue: { database: { host, port, user, database: name, sslMode: 'disable', passFile } },
  };
  const own = readConfig({ text: JSON.stringify(config), file: 'skep dev', environment: {} });
  if (given === undefined) return own;
  const { cluster, stateDir, catalogue, notify, history } = own;
  const outbound = { ...given.outbound, allowFiles: given.outbound.allowFiles || given.sources.some(isLocal) };
  // Reading repositories of this machine costs nothing, and the user waits for the result.
  const { schedule, jitterSeconds } = given.sources.every(isLocal) ? own : given;
  const here = { outbound, cluster, stateDir, catalogue, notify, history, schedule, jitterSeconds };
  return { ...given, ...here, http: undefined, snapshot: undefined };
}

/** Returns whether the repository is on this machine: it is allowed without a setting, because the user named it. */
function isLocal({ repository }: Config['sources'][number]): boolean {
  return URL.parse(repository)?.protocol === 'file:';
}
