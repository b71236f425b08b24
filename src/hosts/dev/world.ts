// Opens the environment of `skep dev`: a cluster with skep's CRDs, a database with its schema, the sample repository,
// the configuration.

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
import type { ClusterNode, NodeOptions } from '#kubernetes/devcluster/node/node.ts';
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
  /** State folder. */
  readonly dir: string;
  /**
   * Sample repository with a work tree, in which the user commits; undefined if the configuration names other
   * repositories.
   */
  readonly fleetDir: string | undefined;
  /** Settings of the registry services' database connection. */
  readonly appDatabase: DatabaseSettings;
  /** File with the token for servers. */
  readonly tokenFile: string;
  /** Settings for other commands about this cluster, such as `skep approve -c FILE`. */
  readonly configFile: string;
  /** The embedded cluster's node; undefined if pods do not run. */
  readonly node: ClusterNode | undefined;
  /** Makes the node look for the programs of images again. */
  programsChanged(): void;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly dir: string;
  readonly say: (text: string) => void;
  /** Finds the programs that run in place of images. If not set, no pods run. */
  readonly find?: FindProgram;
  /** Pods start after this promise has resolved. */
  readonly begin: Promise<void>;
  /** Configuration with the sources. If not set, the sample repository is the source. */
  readonly given?: Config;
}

/** The path is the same from `src/hosts/dev/` and `dist/hosts/dev/`. */
const SAMPLE = fileURLToPath(new URL('../../../manifests/fleet', import.meta.url));
/** URL of the repository in the sample's manifests. `skep dev` replaces it by the real URL. */
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

/** Waits until all parts have started. If a part cannot start, stops the other parts and throws its Failure. */
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

/** Returns the path of the embedded cluster's kubeconfig, which may not exist yet. */
export function kubeconfigIn(dir: string): string {
  return join(clusterDir(dir), 'kubeconfig');
}

interface DevDatabase extends EmbeddedDatabase {
  readonly passFile: string;
}

/**
 * Starts the database with new passwords. The reconciler and the registry services read their password from a file, as
 * in a pod.
 */
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
 * Creates the repository from manifests/fleet at the first start. Later starts leave the repository unchanged, because
 * the user commits to it.
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

/** Returns the configuration with this machine's cluster and database. It names no receivers of notices. */
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
  // Reading local repositories is cheap, so runs are as frequent as for the sample.
  const { schedule, jitterSeconds } = given.sources.every(isLocal) ? own : given;
  const here = { outbound, cluster, stateDir, catalogue, notify, history, schedule, jitterSeconds };
  return { ...given, ...here, http: undefined, snapshot: undefined };
}

/** Returns true for a file: URL. The user named the repository, so no setting is needed to allow it. */
function isLocal({ repository }: Config['sources'][number]): boolean {
  return URL.parse(repository)?.protocol === 'file:';
}
