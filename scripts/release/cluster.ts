// What a release's reconciler writes into a cluster and into its state folder: a fleet is put up and changed, a deletion
// waits and is approved, a run is gone back to, the instance is suspended. Watched on the wire.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { startTestCluster, type TestCluster } from '../../test/harness/cluster.ts';
import { type GitServer, startGitServer } from '../../test/harness/git-server.ts';
import { type Seen, startProxy } from '../../test/harness/proxy.ts';
import { startReceiver } from '../../test/harness/receiver.ts';
import type { Release } from './checkout.ts';
import { fleetOf, HOME } from './manifests.ts';

/** A request that changed something which was still there in the end. */
interface Write {
  readonly method: string;
  /** With query. */
  readonly url: string;
  readonly body: unknown;
  /** The uid that the object had: others name it. */
  readonly uid: string;
}

export async function recordCluster(release: Release, dir: string): Promise<Record<string, unknown>> {
  mkdirSync(dir, { recursive: true });
  const [cluster, git, receiver] = await Promise.all([startTestCluster(), startGitServer(), startReceiver()]);
  try {
    await putUp(cluster, release);
    const proxy = await startProxy(cluster, () => 'pass');
    writeFileSync(join(dir, 'secret'), 'a secret of thirty-two characters');
    const kubeconfig = atHome(proxy.kubeconfigPath, join(dir, 'kubeconfig'));
    const settings = settingsOf({ git, kubeconfig, webhook: receiver.url });
    writeFileSync(join(dir, 'skep.yaml'), JSON.stringify(settings));
    const { commits, runs } = await live(release, dir, git);
    await proxy.close();
    const writes = await lasting(cluster, proxy.seen);
    return { commits, runs, writes, state: filesOf(join(dir, 'state')) };
  } finally {
    await Promise.all([cluster.stop(), git.close(), receiver.close()]);
  }
}

/** As whoever installs it does: its definitions, and the namespace of the reconciler. */
export async function putUp(cluster: TestCluster, { dir }: Release): Promise<void> {
  const folder = join(dir, 'manifests/crds');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const name = /^ {2}name: (\S+)$/m.exec(text)?.[1];
    await cluster.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`, text);
  }
  const metadata = { name: HOME };
  await cluster.apply(`/api/v1/namespaces/${HOME}`, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

/** The same access, with the records of the instance in its namespace. */
export function atHome(path: string, own: string): string {
  const config = JSON.parse(readFileSync(path, 'utf8'));
  for (const { context } of config.contexts) context.namespace = HOME;
  writeFileSync(own, JSON.stringify(config), { mode: 0o600 });
  return own;
}

export interface Surroundings {
  readonly git: GitServer;
  readonly kubeconfig: string;
  readonly webhook?: string;
  readonly database?: unknown;
}

/** skep.yaml; tests write the same for the release that takes over. */
export function settingsOf({ git, kubeconfig, webhook, database }: Surroundings): Record<string, unknown> {
  return {
    name: 'fleet',
    sources: [{ name: 'fleet', repository: `${git.url}/fleet.git`, branch: 'main', path: 'cluster' }],
    cluster: { kubeconfig },
    apply: { maxDeletes: 0, maxDeletesPercent: 100, waitSeconds: 30 },
    approval: { expiresHours: 1 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: 'state',
    ...(webhook === undefined ? {} : { notify: { webhooks: [{ url: webhook, secretFile: 'secret' }] } }),
    ...(database === undefined ? {} : { catalogue: { database } }),
  };
}

async function live(release: Release, dir: string, git: GitServer) {
  const repository = git.createRepository('fleet.git');
  // 1: there is no database for what the registry lists, so the history of runs is in the cluster.
  const codes = [1, 5];
  const sync = () => release.skep(dir, ['sync', '-o', 'json'], codes).then((text) => JSON.parse(text));
  const commits: { commit: string; files: unknown }[] = [];
  const runs: unknown[] = [];
  for (const files of fleetOf(release)) {
    commits.push({ commit: repository.commit(files), files });
    runs.push((await sync()).run.id);
  }
  const { approval } = JSON.parse(await release.skep(dir, ['plan', '-o', 'json'], codes));
  await release.skep(dir, ['approve', approval.hash]);
  await release.skep(dir, ['rollback', '--to', String(runs[1])], codes);
  await release.skep(dir, ['suspend', '--reason', 'an upgrade']);
  return { commits: commits.map(({ commit, files }) => ({ commit, files: withNulls(files) })), runs };
}

/** JSON knows no undefined. */
function withNulls(files: unknown): unknown {
  return JSON.parse(JSON.stringify(files, (_, value) => (value === undefined ? null : value)));
}

const NOT_KEPT = ['events', 'leases'];

/** In their order; of leases only the last, and nothing of what was deleted. */
async function lasting(cluster: TestCluster, seen: readonly Seen[]): Promise<readonly Write[]> {
  const done = seen.filter(({ isWrite, method, status = 500 }) => isWrite && method !== 'DELETE' && status < 300);
  const last = new Map(done.map((entry) => [pathOf(entry), entry]));
  const kept = done.filter((entry) => {
    const [resource = ''] = entry.label.split(' ').slice(1);
    return !NOT_KEPT.includes(resource) || (resource === 'leases' && last.get(pathOf(entry)) === entry);
  });
  const writes: Write[] = [];
  for (const entry of kept) {
    const { status, body } = await cluster.send('GET', pathOf(entry));
    if (status !== 200) continue;
    writes.push({
      method: entry.method,
      url: entry.url,
      body: JSON.parse(nameless(entry.body)),
      uid: body.metadata.uid,
    });
  }
  return writes;
}

/** Whoever records is not named. */
function nameless(text: string): string {
  return text.replaceAll(`${userInfo().username}@${hostname()}`, 'operator@example.com');
}

/** Of the object, whatever is changed of it. */
function pathOf({ method, url, body }: Seen): string {
  const path = (url.split('?')[0] ?? '').replace(/\/status$/, '');
  return method === 'POST' ? `${path}/${JSON.parse(body).metadata.name}` : path;
}

/** What is in the folder itself: copies of repositories are fetched again. */
function filesOf(folder: string): Record<string, unknown> {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(files.map(({ name }) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8'))]));
}
