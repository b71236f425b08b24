// Everything a run works with but the cluster: a client of it with our CRDs in place, a repository, options.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { openRepository } from '#adapters/git/repository.ts';
import { writeRepository } from '#adapters/git/write.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import { fieldManager as managerOf } from '#reconciler/run/labels.ts';
import type { RunDeps, RunOptions } from '#reconciler/run/run.ts';
import { API_GROUP, type Manifest } from './manifests.ts';

const INSTANCE = 'bench';
export const MANAGER = managerOf(INSTANCE);
export const CONNECTIONS = 16;

export interface FleetWorld {
  readonly client: ConnectedCluster;
  readonly deps: RunDeps;
  /** Requests so far that were no GET; dry runs are counted, too. */
  writes(): number;
  close(): Promise<void>;
}

const REPOSITORY = 'fleet';

/** What an instance in the folder reads; its path. Takes much memory: not in a process whose memory is measured. */
export async function writeFleet(folder: string, manifests: readonly Manifest[]): Promise<string> {
  const author = { name: 'Bench', email: 'bench@example.com' };
  const commit = { message: 'The fleet', author, timestamp: 1_700_000_000 };
  const path = join(folder, REPOSITORY);
  await writeRepository(path, manifests, commit);
  return path;
}

export async function openFleetWorld(kubeconfig: string, folder: string, instance = INSTANCE): Promise<FleetWorld> {
  let writes = 0;
  const client = await connectCluster({
    kubeconfig,
    fieldManager: managerOf(instance),
    concurrency: CONNECTIONS,
    version: 'bench',
    clock: systemClock,
    observe: ({ method }) => {
      if (method !== 'GET') writes += 1;
    },
  });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  client.refresh();
  const outbound = createOutbound({ allowPrivate: [], version: 'bench' });
  const repository = openRepository({
    repository: pathToFileURL(join(folder, REPOSITORY)).href,
    ref: { branch: 'main' },
    dir: join(folder, 'state'),
    outbound,
    allowFiles: true,
    clock: systemClock,
  });
  const deps = {
    cluster: client,
    clock: systemClock,
    sources: [{ name: 'fleet', repository, path: 'cluster' }],
    cache: new Map<string, unknown>(),
    remembered: new Map<string, string>(),
    random: randomBytes,
    digestKey: openDigestKey(client, instance, 'default'),
    progress: () => undefined,
  };
  async function close(): Promise<void> {
    await Promise.all([client.close(), outbound.close()]);
  }
  return { client, deps, writes: () => writes, close };
}

let runs = 0;

export function optionsOf(overrides: Partial<RunOptions> = {}): RunOptions {
  runs += 1;
  return {
    id: `run-${runs}`,
    instance: INSTANCE,
    homeNamespace: 'default',
    apiGroup: API_GROUP,
    kinds: KINDS,
    settings: {
      apiGroup: API_GROUP,
      images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
      pullSecrets: [],
    },
    namespaces: ['*'],
    children: true,
    prune: true,
    limits: { maxDeletes: 20, maxDeletesPercent: 25 },
    conflicts: 'report',
    waitSeconds: 120,
    tooling: 'skep/bench',
    ...overrides,
  };
}
