// A world that answers one request in twenty with a refusal, an error, silence or late: runs converge all the same, with
// no more requests under way than allowed, and whoever is asked to wait waits. All of it measured at a proxy.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { type Fate, type Passing, type Seen, startProxy } from '../../harness/proxy.ts';
import { seeded } from '../../harness/random.ts';
import { API_GROUP } from '../../harness/world.ts';
import { GROUP, members, NAMESPACE, server } from './fleet.ts';
import { newProcess } from './process.ts';

const SEED = Number(process.env.SKEP_SEED ?? 20261121);
const CONCURRENCY = 6;
const RETRY_AFTER_SECONDS = 1;
/** As many runs as it may take until one meets no error that is reported and not repeated. */
const RUNS_MAX = 8;

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster.stop());

const MISFORTUNES: readonly (() => Fate)[] = [
  () => ({ status: 429, retryAfterSeconds: RETRY_AFTER_SECONDS }),
  () => ({ status: 500 }),
  () => ({ lose: 'before' }),
  () => ({ lose: 'after' }),
  () => ({ hold: sleep(150) }),
];

/** One of each twenty requests, by the dice, each sort as often as the others. */
function misfortune(): (passing: Passing) => Fate {
  const random = seeded(SEED);
  let [unlucky, left] = [0, [...MISFORTUNES]];
  return ({ number }) => {
    if (number % 20 === 1) unlucky = number + random.integer(20);
    if (number !== unlucky) return 'pass';
    if (left.length === 0) left = [...MISFORTUNES];
    const [chosen] = left.splice(random.integer(left.length), 1);
    return chosen?.() ?? 'pass';
  };
}

function fleetOf(versions: Readonly<Record<string, string>>): string {
  const servers = Object.entries(versions).map(([name, version]) => server(name, version));
  return [NAMESPACE, GROUP, ...servers].join('---\n');
}

const COMMITS = [
  Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`server-${index}`, '1.0.0'])),
  Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`server-${index + 3}`, `${1 + (index % 2)}.0.0`])),
];

/** What keeps the lease, what the instance notes, and whether it is suspended: these do not queue behind other requests. */
function isUrgent({ method, label, url }: Passing): boolean {
  if (label.endsWith(' leases') || method === 'POST' || method === 'PUT') return true;
  return url.endsWith('/configmaps/skep-test-suspension');
}

/** Milliseconds from each 429 to the next time that the same was asked; undefined where it was not. */
function waits(seen: readonly Seen[]): (number | undefined)[] {
  const refused = seen.filter(({ status }) => status === 429);
  return refused.map((one) => {
    const again = seen.find(({ number, method, url, body }) => {
      return number > one.number && method === one.method && url === one.url && body === one.body;
    });
    return again === undefined ? undefined : again.at - one.at;
  });
}

test('runs converge, keep to the limit of requests under way, and wait as long as they are told', async () => {
  const options = { fieldManager: 'skep-test', concurrency: 16, version: 'test', clock: systemClock };
  const client = await connectCluster({ kubeconfig: cluster.kubeconfigPath, ...options });
  for (const kind of KINDS) await client.apply(crd(kind, API_GROUP), { force: true });
  client.refresh();
  const proxy = await startProxy(cluster, misfortune(), (passing) => !isUrgent(passing));
  const limits = { maxDeletes: 100, maxDeletesPercent: 100 };
  const runs: number[] = [];
  for (const versions of COMMITS) {
    const settings = { kubeconfig: proxy.kubeconfigPath, manifests: fleetOf(versions), concurrency: CONCURRENCY };
    const process = await newProcess(settings);
    let code = -1;
    for (let run = 1; code !== 0 && run <= RUNS_MAX; run += 1) {
      code = await process.run({ limits }).then(exitCodeOf, () => 1);
      if (code === 0) runs.push(run);
    }
    expect(code).toBe(0);
    await process.close();
    const calm = await newProcess({ ...settings, kubeconfig: cluster.kubeconfigPath });
    expect((await calm.plan({ limits })).plan.batches).toEqual([]);
    await calm.close();
    const living = [...(await members(client, 'test')).keys()];
    const servers = living.flatMap((id) => /^tools\/MCPServer\/(.*)$/.exec(id)?.[1] ?? []);
    expect(servers).toEqual(Object.keys(versions).sort());
  }
  await Promise.all([proxy.close(), client.close()]);

  const bad = proxy.seen.filter(({ status }) => status === undefined || status === 429 || status === 500).length;
  const reported = `${proxy.seen.length} requests, ${bad} refused or lost; runs until exit 0: ${runs.join(', ')}`;
  process.stdout.write(`${reported}; at most ${proxy.most()} of ${CONCURRENCY} under way\n`);
  expect(bad).toBeGreaterThan(proxy.seen.length / 40);
  expect(proxy.most()).toBeLessThanOrEqual(CONCURRENCY);
  expect(proxy.most()).toBeGreaterThan(1);
  const waited = waits(proxy.seen);
  process.stdout.write(
    `${waited.length} told to wait ${RETRY_AFTER_SECONDS} s waited ${waited.map((ms) => Math.round(ms ?? -1)).join(', ')} ms\n`,
  );
  expect(waited.length).toBeGreaterThan(2);
  for (const ms of waited) expect(ms ?? Number.NaN).toBeGreaterThan(RETRY_AFTER_SECONDS * 1000 - 2);
});
