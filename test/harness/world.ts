// Starts an embedded API server with the CRDs and a Git server with one repository, and performs runs with the real
// adapters.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import type { GitRef } from '#adapters/git/reference.ts';
import { openRepository } from '#adapters/git/repository.ts';
import { createOutbound } from '#adapters/http/outbound.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import type { ChangeOutcome } from '#reconciler/run/apply/apply.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import { openDigestKey } from '#reconciler/run/desire/digest-key.ts';
import { impactOfPlan } from '#reconciler/run/impact/impact.ts';
import { type AdoptionResult, adopt } from '#reconciler/run/operate/adopt.ts';
import { applyPlanFile } from '#reconciler/run/operate/apply-plan-file.ts';
import { type Approved, approve } from '#reconciler/run/operate/approve.ts';
import { type Explanation, explain } from '#reconciler/run/plan/explain.ts';
import { identifyCluster } from '#reconciler/run/plan-file/binding.ts';
import type { PlanFile } from '#reconciler/run/plan-file/format.ts';
import { planAgainst } from '#reconciler/run/plan-file/plan-against.ts';
import { type PlanBinding, type PlanFileInput, planFileOf } from '#reconciler/run/plan-file/plan-file.ts';
import { stateSnapshotOf } from '#reconciler/run/plan-file/state-snapshot.ts';
import type { StateSnapshot } from '#reconciler/run/plan-file/state-snapshot-format.ts';
import type { Repository } from '#reconciler/run/ports.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { planInstance, type RunDeps, type RunOptions, reconcile } from '#reconciler/run/run.ts';
import { sha256 } from '#std/hash.ts';
import { startTestCluster, type TestCluster } from './cluster.ts';
import { type GitServer, startGitServer, type TestRepository } from './git-server.ts';

export const API_GROUP = 'toolhive.stacklok.dev';

export interface World {
  readonly cluster: TestCluster;
  readonly git: GitServer;
  readonly fleet: TestRepository;
  readonly client: ConnectedCluster;
  run(overrides?: WorldOverrides): Promise<RunResult>;
  plan(overrides?: WorldOverrides): Promise<RunResult>;
  explain(overrides?: WorldOverrides): Promise<readonly Explanation[]>;
  /** Returns the content of the file that `skep plan --out` writes. */
  planFile(overrides?: WorldOverrides): Promise<PlanFile>;
  /** Applies a plan file as `skep apply` does. */
  applyPlan(file: PlanFile, overrides?: WorldOverrides): Promise<RunResult>;
  /** Returns a snapshot of the current state, as a run publishes it. */
  snapshot(overrides?: WorldOverrides): Promise<StateSnapshot>;
  /** Plans the newest commit from a snapshot, without access to the cluster. */
  planAgainst(snapshot: StateSnapshot, overrides?: WorldOverrides): Promise<RunResult>;
  adopt(write: boolean, overrides?: WorldOverrides): Promise<AdoptionResult>;
  approve(hash: string, expiresHours: number, overrides?: WorldOverrides): Promise<Approved>;
  close(): Promise<void>;
}

export interface WorldOverrides extends Partial<RunOptions> {
  readonly registries?: RegistryDeps;
  readonly progress?: (outcome: ChangeOutcome) => void;
  /** If set, replaces the world's client. */
  readonly cluster?: RunDeps['cluster'];
  readonly digestKey?: RunDeps['digestKey'];
  readonly sound?: RunDeps['sound'];
  /** Returns the sources of the run. Its argument is the world's only source. */
  readonly sources?: (fleet: FleetSource) => readonly FleetSource[];
}

let runs = 0;

/** `workloadsReadyAfterMs` is the time until Deployments and StatefulSets become ready. Defaults to one second. */
export async function startWorld(settings: { readonly workloadsReadyAfterMs?: number } = {}): Promise<World> {
  const [cluster, git] = await Promise.all([startTestCluster(settings), startGitServer()]);
  const fleet = git.createRepository('fleet.git');
  const dir = mkdtempSync(join(tmpdir(), 'skep-world-'));
  const client = await connectCluster({
    kubeconfig: cluster.kubeconfigPath,
    fieldManager: 'skep-test',
    concurrency: 16,
    version: 'test',
    clock: systemClock,
  });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  client.refresh();
  const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
  const repositoryAt = (ref: GitRef): Repository =>
    openRepository({
      repository: `${git.url}/fleet.git`,
      ref,
      dir: join(dir, 'git'),
      outbound,
      allowFiles: false,
      clock: systemClock,
    });
  const newest = repositoryAt({ branch: 'main' });
  const digestKey = openDigestKey(client, 'test', 'default');
  const kept = { cache: new Map<string, unknown>(), remembered: new Map<string, string>() };
  function deps(overrides: WorldOverrides, repository = newest): RunDeps {
    const { registries, progress = () => undefined, sources: chosen = (fleet) => [fleet] } = overrides;
    const { cluster: reached = client, digestKey: ownKey = digestKey, sound } = overrides;
    const sources = chosen({ name: 'fleet', repository, path: 'cluster' });
    return {
      cluster: reached,
      clock: systemClock,
      sources,
      ...kept,
      digestKey: ownKey,
      sound,
      random: randomBytes,
      progress,
      ...(registries === undefined ? {} : { registries }),
    };
  }
  /** Plans a run, and returns the input for plan files and snapshots. */
  async function seen(overrides: WorldOverrides): Promise<PlanFileInput & { readonly prepared: Prepared }> {
    const { result, prepared } = await planInstance(deps(overrides), optionsOf(overrides));
    const commit = result.commits.fleet ?? '';
    const sources = [{ name: 'fleet', repository: `${git.url}/fleet.git`, ref: 'branch main', commit }];
    const createdAt = new Date(systemClock.now()).toISOString();
    if (digestKey.known() === undefined) await digestKey.find();
    return { binding: await bindingOf(client), sources, createdAt, prepared, key: digestKey.known() };
  }
  return {
    cluster,
    git,
    fleet,
    client,
    run: (overrides = {}) => reconcile(deps(overrides), optionsOf(overrides)),
    async plan(overrides = {}) {
      const options = optionsOf(overrides);
      const { result, prepared } = await planInstance(deps(overrides), options);
      return { ...result, impact: impactOfPlan(options, prepared, result.plan) };
    },
    explain: async (overrides = {}) => explain((await planInstance(deps(overrides), optionsOf(overrides))).prepared),
    planFile: async (overrides = {}) => planFileOf(await seen(overrides)),
    async snapshot(overrides = {}) {
      const served = await client.resources();
      return stateSnapshotOf({ ...(await seen(overrides)), served, definitions: [] });
    },
    async planAgainst(snapshot, overrides = {}) {
      const before = deps(overrides, repositoryAt({ commit: snapshot.sources[0]?.commit ?? '' })).sources;
      const { sources: after, clock, cache } = deps(overrides);
      const here = await bindingOf(client);
      const input = { deps: { clock, cache }, options: optionsOf(overrides), snapshot, here, before, after };
      return (await planAgainst(input)).result;
    },
    applyPlan: async (file, overrides = {}) => {
      const pinned = repositoryAt({ commit: file.sources[0]?.commit ?? '' });
      return applyPlanFile(deps(overrides, pinned), optionsOf(overrides), file, await bindingOf(client));
    },
    adopt: (write, overrides = {}) => adopt(deps(overrides), optionsOf(overrides), write),
    approve: (hash, expiresHours, overrides = {}) => approve(deps(overrides), optionsOf(overrides), hash, expiresHours),
    async close() {
      await Promise.all([client.close(), outbound.close(), git.close()]);
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function bindingOf(client: ConnectedCluster): Promise<PlanBinding> {
  const [tool, settings] = [{ name: 'skep/test', digest: sha256('tool') }, { apply: sha256('settings') }];
  return { tool, instance: 'test', cluster: await identifyCluster(client, 'default'), settings };
}

/** Returns the options of a run with a new id. */
export function optionsOf({
  registries: _registries,
  progress: _progress,
  sources: _sources,
  cluster: _cluster,
  digestKey: _digestKey,
  sound: _sound,
  ...overrides
}: WorldOverrides): RunOptions {
  runs += 1;
  return {
    id: `run-${runs}`,
    instance: 'test',
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
    limits: { maxDeletes: 20, maxDeletesPercent: 100 },
    conflicts: 'force',
    waitSeconds: 30,
    tooling: 'skep/test',
    ...overrides,
  };
}
