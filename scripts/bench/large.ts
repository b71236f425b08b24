// Large fleets: a run over them in which nothing changed beside the LIST that it cannot do without, in a process that stays.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { moduleNodeOptions } from './compiled.ts';
import { writeFleet } from './fleet-world.ts';
import type { LargeFleet, LargeRun } from './large-process.ts';
import { measureOnServer, type Site } from './large-site.ts';
import { API_GROUP, fleetOf } from './manifests.ts';
import { median } from './measure.ts';
import { measureNewProcesses } from './new-process.ts';
import { peakMiB, startModule } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const IDLE_SERVERS = 10_000;
const SERVERS_WITH_CHILDREN = 1_000;
const IDLE_ROUNDS = 5;
const PAGE = 500;

/** Custom resources alone: another operator makes their children. */
export function benchResources(place: Place): Promise<Report> {
  return measureOnServer(place, async (site) => [...(await measureNewProcesses(site)), ...(await idleResources(site))]);
}

/** Custom resources and all that they become. */
export function benchChildren(place: Place): Promise<Report> {
  return measureOnServer(place, idleChildren);
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
  const child = await startModule<string>(site.module, input, moduleNodeOptions());
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
