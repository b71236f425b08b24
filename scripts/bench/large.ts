// Large fleets on the API server that KUBECONFIG names, else on the embedded one: a run over them in which nothing changed
// beside the LIST that it cannot do without, and one that creates beside requests with the same bodies. What was made is
// deleted afterwards.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type BareClient, openBareClient } from './bare-cluster-client.ts';
import { compileBeside, imageNodeOptions } from './compiled.ts';
import { CONNECTIONS, writeFleet } from './fleet-world.ts';
import type { LargeFleet, LargeRun } from './large-process.ts';
import { API_GROUP, fleetOf } from './manifests.ts';
import { median } from './measure.ts';
import { peakMiB, type ServerProcess, startModule } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const IDLE_SERVERS = 10_000;
const CREATED_SERVERS = 2_000;
const SERVERS_WITH_CHILDREN = 1_000;
const CREATE_ROUNDS = 3;
const IDLE_ROUNDS = 5;
const PAGE = 500;

interface Site {
  /** What is measured: the instance's process, compiled. */
  readonly module: URL;
  readonly kubeconfig: string;
  readonly bare: BareClient;
  readonly folder: string;
  readonly run: string;
}

/** Custom resources alone: another operator makes their children. */
export function benchResources(place: Place): Promise<Report> {
  return onServer(place, async (site) => [...(await creation(site)), ...(await idleResources(site))]);
}

/** Custom resources and all that they become. */
export function benchChildren(place: Place): Promise<Report> {
  return onServer(place, idleChildren);
}

async function onServer({ folder, program }: Place, measure: (site: Site) => Promise<Row[]>): Promise<Report> {
  const named = process.env.KUBECONFIG ?? '';
  const embedded = named === '' ? await embeddedCluster(folder) : undefined;
  const kubeconfig = embedded?.ready ?? named;
  const bare = await openBareClient(kubeconfig, CONNECTIONS);
  const module = await compileBeside(program, new URL('./large-process.ts', import.meta.url));
  const run = `bench-${randomBytes(3).toString('hex')}`;
  try {
    const rows = await measure({ module, kubeconfig, bare, folder, run });
    const { gitVersion } = JSON.parse(await bare.send('GET', '/version'));
    return {
      rows,
      notices: [`large fleets: ${embedded === undefined ? 'API server' : 'embedded cluster'} ${gitVersion}`],
    };
  } finally {
    if (embedded === undefined) await cleanUp(bare, run);
    await bare.close();
    await embedded?.stop();
  }
}

function embeddedCluster(folder: string): Promise<ServerProcess<string>> {
  return startModule<string>(new URL('./cluster-process.ts', import.meta.url), join(folder, 'cluster'));
}

interface FleetSize extends Pick<LargeFleet, 'instance' | 'children'> {
  readonly servers: number;
}

interface Fleet {
  run(): Promise<LargeRun>;
  /** The most memory that its process has had so far. */
  peakMiB(): number | undefined;
  stop(): Promise<void>;
}

async function openFleet(site: Site, { instance, servers, children }: FleetSize): Promise<Fleet> {
  const folder = mkdtempSync(join(site.folder, `${instance}-`));
  await writeFleet(folder, fleetOf(servers, instance));
  const input = { kubeconfig: site.kubeconfig, folder, instance, children };
  const child = await startModule<string>(site.module, input, imageNodeOptions());
  return {
    run: async () => {
      const result = await child.ask<LargeRun>('run');
      assert.deepEqual([...new Set(result.wrong)].slice(0, 5), [], 'a run has nothing to complain about');
      return result;
    },
    peakMiB: () => peakMiB(child.pid),
    stop: child.stop,
  };
}

/** Each round has a namespace for us and one for the baseline, which sends what ours has sent: to be tried, and for good. */
async function creation(site: Site): Promise<Row[]> {
  const [ours, baseline]: [number[], number[]] = [[], []];
  for (let round = 0; round <= CREATE_ROUNDS; round += 1) {
    const instance = `${site.run}-ours-${round}`;
    // Where a namespace is still to be made, nothing in it can be tried first.
    await createNamespace(site, instance);
    const fleet = await openFleet(site, { instance, servers: CREATED_SERVERS, children: false });
    const { ms, created } = await fleet.run();
    await fleet.stop();
    assert.equal(created, fleetOf(CREATED_SERVERS).length - 1);
    const other = `${site.run}-bare-${round}`;
    const bare = await createBare(site, instance, other);
    for (const namespace of [instance, other]) await remove(site, namespace);
    if (round === 0) continue;
    ours.push(ms);
    baseline.push(bare);
  }
  const against = 'dry run and PATCH of the same, 16 at once';
  return [
    {
      name: `run that creates ${CREATED_SERVERS}`,
      ours: median(ours),
      baseline: median(baseline),
      unit: 'ms',
      against,
    },
  ];
}

async function createNamespace({ bare }: Site, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await bare.patch(`/api/v1/namespaces/${name}?fieldManager=bench`, body);
}

/** Resolves when it is gone with all that is in it: what others left behind would be listed with each run. */
async function remove({ bare }: Site, name: string): Promise<void> {
  const path = '/api/v1/namespaces';
  await bare.send('DELETE', `${path}/${name}`);
  const isThere = async () => JSON.parse(await bare.send('GET', `${path}?fieldSelector=metadata.name%3D${name}`));
  while ((await isThere()).items.length > 0) await setTimeout(500);
}

async function createBare(site: Site, from: string, to: string): Promise<number> {
  const { bare } = site;
  const path = `/apis/${API_GROUP}/v1alpha1/namespaces`;
  const lists = await bare.listAll(['mcpgroups', 'mcpservers'].map((plural) => `${path}/${from}/${plural}`));
  const bodies = lists.flatMap((list) => {
    const { items } = JSON.parse(list);
    return items.map((item: { spec: unknown; metadata: { name: string; labels: unknown } }) => {
      const { name, labels } = item.metadata;
      const plural = 'image' in (item.spec as object) ? 'mcpservers' : 'mcpgroups';
      const kind = plural === 'mcpservers' ? 'MCPServer' : 'MCPGroup';
      const metadata = { name, namespace: to, labels };
      const body = JSON.stringify({ apiVersion: `${API_GROUP}/v1alpha1`, kind, metadata, spec: item.spec });
      return { path: `${path}/${to}/${plural}/${name}?fieldManager=bench`, body };
    });
  });
  await createNamespace(site, to);
  const start = performance.now();
  for (const query of ['&dryRun=All', ''])
    await Promise.all(bodies.map(({ path, body }) => bare.patch(path + query, body)));
  return performance.now() - start;
}

function idleResources(site: Site): Promise<Row[]> {
  return idleRows(site, {
    name: `idle run, ${IDLE_SERVERS} MCPServers without children`,
    fleet: { instance: `${site.run}-idle`, servers: IDLE_SERVERS, children: false },
    paths: [`/apis/${API_GROUP}/v1alpha1/mcpservers`],
  });
}

function idleChildren(site: Site): Promise<Row[]> {
  return idleRows(site, {
    name: `idle run, ${SERVERS_WITH_CHILDREN} MCPServers and their children`,
    fleet: { instance: `${site.run}-children`, servers: SERVERS_WITH_CHILDREN, children: true },
    paths: [
      ...['mcpservers', 'mcpgroups'].map((plural) => `/apis/${API_GROUP}/v1alpha1/${plural}`),
      ...['configmaps', 'services', 'serviceaccounts', 'secrets'].map((plural) => `/api/v1/${plural}`),
      ...['deployments', 'statefulsets'].map((plural) => `/apis/apps/v1/${plural}`),
      ...['roles', 'rolebindings'].map((plural) => `/apis/rbac.authorization.k8s.io/v1/${plural}`),
    ],
  });
}

interface Idle {
  readonly name: string;
  readonly fleet: FleetSize;
  /** What the baseline lists. */
  readonly paths: readonly string[];
}

/** One process makes the fleet; another, which stays, is measured. Its first run reads everything anew. */
async function idleRows(site: Site, { name, fleet, paths }: Idle): Promise<Row[]> {
  const maker = await openFleet(site, fleet);
  await maker.run();
  await maker.stop();
  const stayer = await openFleet(site, fleet);
  try {
    await stayer.run();
    const [ours, lists]: [LargeRun[], number[]] = [[], []];
    for (let round = 0; round < IDLE_ROUNDS; round += 1) {
      ours.push(await stayer.run());
      const start = performance.now();
      await site.bare.listAll(paths);
      lists.push(performance.now() - start);
    }
    return rowsOf(name, { ours, lists, peak: stayer.peakMiB() });
  } finally {
    await stayer.stop();
  }
}

interface Measured {
  readonly ours: readonly LargeRun[];
  readonly lists: readonly number[];
  readonly peak: number | undefined;
}

function rowsOf(name: string, { ours, lists, peak }: Measured): Row[] {
  const [last] = ours.slice(-1);
  assert(last !== undefined);
  const writes = Math.max(...ours.map((run) => run.writes));
  const against = 'the paged LIST, JSON.parse';
  const objects = `${last.unchanged} objects / ${PAGE}`;
  const pages = Math.ceil(last.unchanged / PAGE);
  return [
    { name, ours: median(ours.map(({ ms }) => ms)), baseline: median(lists), unit: 'ms', against },
    { name: '... requests', ours: last.requests, baseline: pages, unit: 'requests', against: objects },
    { name: '... writes', ours: writes, unit: 'writes' },
    ...(peak === undefined ? [] : [{ name: '... memory', ours: peak, unit: 'MiB' }]),
  ];
}

/** Namespaces and what is in them; the API server goes on deleting after this. */
async function cleanUp(bare: BareClient, run: string): Promise<void> {
  const { items } = JSON.parse(await bare.send('GET', '/api/v1/namespaces'));
  const names: string[] = items.map((item: { metadata: { name: string } }) => item.metadata.name);
  for (const name of names.filter((each) => each.startsWith(`${run}-`))) {
    await bare.send('DELETE', `/api/v1/namespaces/${name}`);
  }
}
