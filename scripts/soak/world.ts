// Everything that the two processes work with, each in a process of its own but for the identity provider and whoever is
// notified; and the two processes, configured as one would in earnest.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type Receiver, startReceiver } from '../../test/harness/receiver.ts';
import { type BenchDatabase, openBenchDatabase } from '../bench/database.ts';
import { API_GROUP, registryOf } from '../bench/manifests.ts';
import { type AskedProcess, type ServerProcess, startModule } from '../bench/processes.ts';
import type { Complaints } from './complaints.ts';
import { REPOSITORY } from './git-process.ts';
import { AUDIENCE, type Issuer, startIssuer } from './issuer.ts';
import { BROKEN_PATH, FLEET_PATH, MOUNTED_FILE, NAMESPACE, REGISTRY, type Step } from './story.ts';
import { type LogRecord, startWatched, type WatchedProcess } from './watched-process.ts';

export interface Surroundings {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly cluster: ServerProcess<string>;
  readonly database: BenchDatabase;
  readonly issuer: Issuer;
  readonly receiver: Receiver;
  /** Of the Git repository. */
  readonly repository: string;
  /** Resolves with the id of the commit. */
  commit(step: Step): Promise<string>;
  /** Replaces what is mounted into the service. */
  mount(entries: number): void;
  close(): Promise<void>;
}

/** Names of files below the folder, with what is in them. */
export const SECRETS = {
  token: 'the-token',
  webhook: 'the-webhook-secret',
  notify: 'the-notify-secret',
  forge: 'forge',
};

export async function openSurroundings(folder: string): Promise<Surroundings> {
  const closing: (() => Promise<unknown>)[] = [];
  async function close(): Promise<void> {
    for (const each of closing.splice(0).reverse()) await each();
  }
  try {
    const dir = join(folder, 'cluster');
    mkdirSync(dir);
    const cluster = await startModule<string>(new URL('../bench/cluster-process.ts', import.meta.url), dir);
    closing.push(cluster.stop);
    await installKinds(cluster.ready);
    const database = await openBenchDatabase(folder);
    closing.push(database.stop);
    const [issuer, receiver] = [await startIssuer(), await startReceiver()];
    closing.push(issuer.close, receiver.close);
    const git: AskedProcess<string> = await startModule(new URL('./git-process.ts', import.meta.url), '');
    closing.push(git.stop);
    for (const [name, text] of Object.entries(SECRETS)) writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 });
    const mount = (entries: number) => {
      writeFileSync(join(folder, 'next.json'), JSON.stringify(registryOf(entries)));
      renameSync(join(folder, 'next.json'), join(folder, MOUNTED_FILE));
    };
    mount(20);
    const repository = `${git.ready}/${REPOSITORY}`;
    const commit = (step: Step) => git.ask<string>(step as never);
    return { folder, kubeconfig: cluster.ready, cluster, database, issuer, receiver, repository, commit, mount, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function installKinds(kubeconfig: string): Promise<void> {
  const client = await connectCluster({
    kubeconfig,
    fieldManager: 'skep-crds',
    concurrency: 4,
    version: 'soak',
    clock: systemClock,
  });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  await client.close();
}

export interface StartOptions {
  readonly program: string;
  readonly complaints: Complaints;
}

/** `skep run`; JSON is YAML. */
export function startRun(world: Surroundings, { program, complaints }: StartOptions): WatchedProcess {
  const { folder } = world;
  const file = join(folder, 'skep.yaml');
  writeFileSync(file, JSON.stringify(runConfig(world), null, 2));
  return startWatched({
    name: 'run',
    program,
    args: ['run', '-c', file],
    logFile: join(folder, 'run.log'),
    complaints,
    expected: isOfBrokenManifest,
  });
}

/** Told as long as it is there: the file, or that nothing is deleted meanwhile. */
function isOfBrokenManifest({ file, msg }: LogRecord): boolean {
  return String(file ?? '').endsWith(BROKEN_PATH) || String(msg).includes(BROKEN_PATH);
}

function runConfig({ folder, kubeconfig, database, receiver, repository }: Surroundings): object {
  const { host, port, user, database: name } = database.app;
  return {
    name: 'soak',
    sources: [{ name: 'fleet', repository, branch: 'main', path: FLEET_PATH }],
    schedule: '*/5 * * * * *',
    jitterSeconds: 1,
    cluster: { kubeconfig },
    policies: ['builtin'],
    images: { proxy: 'example.com/proxy:1', vmcp: 'example.com/vmcp:1', registry: 'example.com/registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: join(folder, 'state'),
    snapshot: { file: join(folder, 'snapshot.json') },
    notify: {
      commitStatus: { provider: 'gitea', tokenFile: join(folder, 'forge'), apiUrl: receiver.url },
      webhooks: [{ url: receiver.url, secretFile: join(folder, 'notify') }],
    },
    http: { address: '127.0.0.1:0', tokenFile: join(folder, 'token'), webhookSecretFile: join(folder, 'webhook') },
    catalogue: { database: { host, port, user, database: name, sslMode: 'disable', passFile: database.passFile } },
  };
}

/** `skep serve`. */
export function startServe(world: Surroundings, { program, complaints }: StartOptions): WatchedProcess {
  const { folder } = world;
  const file = join(folder, 'registry.yaml');
  writeFileSync(file, JSON.stringify(serveConfig(world), null, 2));
  return startWatched({
    name: 'serve',
    program,
    args: ['serve', '-c', file],
    logFile: join(folder, 'serve.log'),
    complaints,
    expected: () => false,
  });
}

function serveConfig({ folder, database, issuer, repository }: Surroundings): object {
  const { host, port, user, database: name } = database.app;
  const { url } = issuer;
  const provider = {
    name: 'soak',
    issuerUrl: url,
    jwksUrl: `${url}/jwks`,
    introspectionUrl: `${url}/introspect`,
    audience: AUDIENCE,
    allowPrivateIP: true,
  };
  const syncPolicy = { interval: '10s' };
  return {
    registryName: REGISTRY,
    namespace: NAMESPACE,
    listen: { host: '127.0.0.1', port: 0 },
    metrics: { host: '127.0.0.1', port: 0 },
    registries: [
      { name: 'catalogue', git: { repository, branch: 'main' }, syncedBy: 'reconciler' },
      { name: 'few', file: { path: '/unused.json' }, syncedBy: 'reconciler' },
      { name: 'mounted', file: { path: join(folder, MOUNTED_FILE) }, syncPolicy },
    ],
    dataDir: join(folder, 'serve-data'),
    database: { host, port, user, database: name, sslMode: 'disable', passFile: database.passFile },
    auth: { oauth: { resourceUrl: 'https://registry.example', enforceScopes: true, providers: [provider] } },
  };
}
