// The reconciler over a fleet in which nothing changed: a whole run beside the LISTs that it cannot do without, and the
// comparison of the objects beside reading them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Counters } from '#kubernetes/devcluster/http/counters.ts';
import { normalise } from '#kubernetes/rules/normalise.ts';
import { groupOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { type MergeType, rootType } from '#kubernetes/rules/openapi.ts';
import { compare } from '#kubernetes/rules/ownership/compare.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { prepare } from '#reconciler/run/prepare.ts';
import { reconcile } from '#reconciler/run/run.ts';
import { type BareClient, openBareClient } from './bare-cluster-client.ts';
import { CONNECTIONS, type FleetWorld, MANAGER, openFleetWorld, optionsOf, writeFleet } from './fleet-world.ts';
import { fleetOf } from './manifests.ts';
import { medians } from './measure.ts';
import { startModule } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const SERVERS = 500;
const ROUNDS = 7;

export async function benchFleet({ folder }: Place): Promise<Report> {
  const cluster = await startModule<string>(new URL('./cluster-process.ts', import.meta.url), join(folder, 'cluster'));
  const bare = await openBareClient(cluster.ready, CONNECTIONS);
  try {
    await writeFleet(folder, fleetOf(SERVERS));
    const world = await openFleetWorld(cluster.ready, folder);
    try {
      const first = await reconcile(world.deps, optionsOf());
      assert.deepEqual([...first.failures, ...first.problems], [], 'the first run has nothing to complain about');
      return { rows: [...(await idleRun(world, bare)), ...(await comparisons(world))], notices: [] };
    } finally {
      await world.close();
    }
  } finally {
    await bare.close();
    await cluster.stop();
  }
}

async function idleRun(world: FleetWorld, bare: BareClient): Promise<Row[]> {
  await bare.send('DELETE', '/devcluster/counters');
  const idle = await reconcile(world.deps, optionsOf());
  const counters: Counters = JSON.parse(await bare.send('GET', '/devcluster/counters'));
  assert.equal(idle.outcomes.length + idle.failures.length, 0, 'a run without changes makes none');
  const paths = await listedPaths(world, counters);
  const pages = await bare.listAll(paths);

  const { run, lists } = await medians(ROUNDS, {
    run: () => reconcile(world.deps, optionsOf()),
    lists: () => bare.listAll(paths),
  });
  const against = 'LIST of the same kinds, JSON.parse';
  const name = `idle run, ${idle.plan.unchanged.length} objects`;
  const writes = Object.values(counters.writes).reduce((sum, count) => sum + count, 0);
  return [
    { name, ours: run, baseline: lists, unit: 'ms', against },
    { name: `${name}: requests`, ours: idle.requests, baseline: pages.length, unit: 'requests', against },
    { name: `${name}: writes`, ours: writes, baseline: 0, unit: 'writes', against },
  ];
}

/** The kinds that the run listed, as paths. */
async function listedPaths({ client }: FleetWorld, { lists }: Counters): Promise<string[]> {
  const resources = await client.resources();
  return resources.filter((resource) => lists[nameOf(resource)] !== undefined).map(pathOf);
}

function nameOf({ apiVersion, plural }: ApiResource): string {
  const group = groupOf(apiVersion);
  return group === '' ? plural : `${plural}.${group}`;
}

function pathOf({ apiVersion, plural }: ApiResource): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}/${plural}` : `/api/${apiVersion}/${plural}`;
}

interface Pair {
  readonly desired: KubeObject;
  readonly live: KubeObject;
  readonly type: MergeType;
}

async function comparisons(world: FleetWorld): Promise<Row[]> {
  const pairs = await pairsOf(world);
  const texts = pairs.map(({ live }) => JSON.stringify(live));
  for (const { desired, live, type } of pairs) {
    assert.deepEqual(compare(desired, live, type, MANAGER), { result: 'unchanged' }, live.metadata.name);
  }
  const { result, parse } = await medians(ROUNDS, {
    result: () => pairs.map(({ desired, live, type }) => compare(desired, live, type, MANAGER)),
    parse: () => texts.map((text): unknown => JSON.parse(text)),
  });
  const [ours, baseline] = [result, parse].map((ms) => (ms * 1000) / pairs.length);
  assert(ours !== undefined && baseline !== undefined);
  return [{ name: 'comparison of one object', ours, baseline, unit: 'µs', against: 'JSON.parse of the object' }];
}

/** What is desired beside what exists, with its type: what the stage `diff` compares. */
async function pairsOf({ deps, client }: FleetWorld): Promise<Pair[]> {
  const { desires, snapshot } = await prepare(deps, optionsOf(), 'sync');
  return Promise.all(
    desires.objects.map(async ({ id, object }) => {
      const document = await client.schema(id.apiVersion);
      const [version = ''] = id.apiVersion.split('/').slice(-1);
      const type = document && rootType(document, { group: groupOf(id.apiVersion), version, kind: id.kind });
      const live = snapshot.find(id);
      assert(type !== undefined && live !== undefined, `${id.kind} ${id.name} lives and has a schema`);
      return { desired: normalise(object, type), live, type };
    }),
  );
}
