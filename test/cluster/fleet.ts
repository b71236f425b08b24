// A small fleet on the suite's API server: a Git repository over HTTP, our kinds, and runs over the real adapters.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { type AdoptionResult, adopt } from '#reconciler/run/operate/adopt.ts';
import { approve } from '#reconciler/run/operate/approve.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { planOnly, type RunDeps, type RunOptions, reconcile } from '#reconciler/run/run.ts';
import { formatId } from '#std/problem.ts';
import { startGitServer, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { kubeconfigOfReconciler } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import type { SuiteServer } from './server.ts';

export interface Fleet {
  /** An admin: the runs themselves have the rights of manifests/install, where the server knows any. */
  readonly client: ConnectedCluster;
  readonly group: string;
  /** Lease and ApplySet parent live here. */
  readonly home: string;
  readonly git: TestRepository;
  /** `account`: the user that the source's objects are changed as. */
  run(options?: Partial<RunOptions>, account?: string): Promise<RunResult>;
  plan(options?: Partial<RunOptions>): Promise<RunResult>;
  /** Takes over from another operator, as `skep adopt --yes`. */
  adopt(): Promise<AdoptionResult>;
  /** What waits beyond the limits may go, as the admin says. */
  approve(hash: string): Promise<unknown>;
  /** Everything that belongs to the fleet, by `namespace/Kind/name`. */
  members(): Promise<ReadonlyMap<string, KubeObject>>;
  close(): Promise<void>;
}

const INSTANCE = 'pipeline';
const MEMBER_KINDS = [
  'ConfigMap',
  'Deployment',
  'MCPGroup',
  'MCPServer',
  'Namespace',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'StatefulSet',
];

/** `as`: whose rights runs have; an admin's where kinds are kept that no account of manifests/install has rights for. */
export async function openFleet(server: SuiteServer, as: 'account' | 'admin' = 'account'): Promise<Fleet> {
  const group = newGroup(INSTANCE);
  await defineKinds(server, await server.client(INSTANCE), group);
  return openFleetIn(server, group, as);
}

/** The same in an API group whose kinds are defined already. */
export async function openFleetIn(server: SuiteServer, group: string, as: 'account' | 'admin'): Promise<Fleet> {
  const client = await server.client(INSTANCE);
  const home = await server.namespace('home');
  const account =
    as === 'account' ? await kubeconfigOfReconciler(server, { home, group, instance: INSTANCE }) : undefined;
  const reconciler = await server.client(INSTANCE, account);
  const [git, folder] = [await startGitServer(), temporaryFolder()];
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
  const repository = openRepository({
    repository: `${git.url}/fleet.git`,
    ref: { branch: 'main' },
    dir: join(folder.path, 'mirror'),
    outbound,
    allowFiles: false,
    clock: systemClock,
  });
  const deps: RunDeps = {
    cluster: reconciler,
    clock: systemClock,
    sources: [{ name: 'fleet', repository, path: '' }],
    cache: new Map(),
    remembered: new Map(),
    random: randomBytes,
    digestKey: openDigestKey(reconciler, INSTANCE, home),
    progress: () => undefined,
  };
  return {
    client,
    group,
    home,
    git: git.createRepository('fleet.git'),
    run: (options, as) => {
      const sources = deps.sources.map((source) => ({ ...source, ...(as === undefined ? {} : { account: as }) }));
      return reconcile({ ...deps, sources }, { ...optionsOf(group, home), ...options });
    },
    plan: (options) => planOnly(deps, { ...optionsOf(group, home), ...options }),
    adopt: () => adopt({ ...deps, cluster: client }, optionsOf(group, home), true),
    approve: (hash) => approve({ ...deps, cluster: client }, optionsOf(group, home), hash, 1),
    members: () => members(client, group, applySetId(INSTANCE, home)),
    close: async () => {
      await Promise.all([outbound.close(), git.close()]);
      folder.remove();
    },
  };
}

let runs = 0;

function optionsOf(group: string, home: string): RunOptions {
  runs += 1;
  return {
    id: `run-${runs}`,
    instance: INSTANCE,
    homeNamespace: home,
    apiGroup: group,
    kinds: KINDS,
    settings: {
      apiGroup: group,
      images: {
        proxy: 'registry.example.com/proxy:1',
        vmcp: 'registry.example.com/vmcp:1',
        registry: 'registry.example.com/registry:1',
      },
      pullSecrets: [],
    },
    children: true,
    namespaces: ['*'],
    prune: true,
    limits: { maxDeletes: 50, maxDeletesPercent: 100 },
    conflicts: 'force',
    waitSeconds: 0,
    tooling: 'skep/test',
  };
}

async function members(client: ConnectedCluster, group: string, set: string): Promise<ReadonlyMap<string, KubeObject>> {
  const kinds = (await client.resources()).filter(
    ({ apiVersion, kind }) => MEMBER_KINDS.includes(kind) && isOurs(apiVersion, group),
  );
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  const ours = lists.flat().filter(({ metadata }) => metadata.labels?.[PART_OF] === set);
  const named = ours.map((object) => {
    const { apiVersion, kind, metadata } = object;
    const { namespace, name } = metadata;
    return [formatId({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }), object] as const;
  });
  return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isOurs(apiVersion: string, group: string): boolean {
  return !apiVersion.includes('.') || apiVersion.startsWith(`${group}/`) || apiVersion.includes('.k8s.io/');
}
