// What one hostile source costs the others: how long one of their changes takes until it is live, and how long the event loop of
// `skep run` stands still, beside the same before the source was hostile and an idle process.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { startTestCluster, type TestCluster } from '../../../test/harness/cluster.ts';
import { startGitServer } from '../../../test/harness/git-server.ts';
import { openBareClient } from '../bare-cluster-client.ts';
import { moduleNodeOptions } from '../compiled.ts';
import { openBenchDatabase } from '../database.ts';
import { API_GROUP } from '../manifests.ts';
import { median } from '../measure.ts';
import { type AskedProcess, startModule } from '../processes.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import type { Longest } from '../watched-turns.ts';
import { configMap, HOSTILE, type Hostile, type Stage } from './hostile.ts';

const ROUNDS = 5;
const LIVE_WITHIN_MS = 120_000;

/** Where everything of one hostile source happens. */
interface Scene extends Stage {
  /** Changes what the other source declares, and resolves when that is live, with the milliseconds. */
  change(): Promise<number>;
  readonly runner: AskedProcess<string>;
}

export async function benchTenancy(place: Place): Promise<Report> {
  const cluster = await startTestCluster({ workloadsReadyAfterMs: 0 });
  const database = await openBenchDatabase(place.folder);
  const idle = await startRunner(place, '');
  const bare = await openBareClient(cluster.kubeconfigPath, 4);
  try {
    for (const kind of KINDS) {
      const definition = crd(kind, API_GROUP);
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
      await bare.patch(`${path}?fieldManager=bench`, JSON.stringify(definition));
    }
    const { host, port, database: name, user } = database.app;
    const catalogue = {
      database: { host, port, user, database: name, passFile: database.passFile, sslMode: 'disable' },
    };
    const rows: Row[] = [];
    for (const hostile of HOSTILE) rows.push(...(await measure({ place, cluster, catalogue, idle }, hostile)));
    return { rows, notices: [] };
  } finally {
    await bare.close();
    await idle.stop();
    await database.stop();
    await cluster.stop();
  }
}

interface Site {
  readonly place: Place;
  readonly cluster: TestCluster;
  readonly catalogue: Readonly<Record<string, unknown>>;
  readonly idle: AskedProcess<string>;
}

function startRunner({ program }: Place, config: string): Promise<AskedProcess<string>> {
  return startModule<string>(new URL('./watched-run.ts', import.meta.url), { program, config }, moduleNodeOptions());
}

async function measure(site: Site, hostile: Hostile): Promise<Row[]> {
  return withScene(site, hostile, async (scene) => {
    // The first changes warm up.
    await rounds(scene);
    const usual = await rounds(scene);
    for (const watched of [scene.runner, site.idle]) await watched.ask('longest');
    await hostile.begin(scene);
    const beside = await rounds(scene);
    const [busy, idle] = [await scene.runner.ask<Longest>('longest'), await site.idle.ask<Longest>('longest')];
    const first = beside[0] ?? Number.NaN;
    const against = 'the same before it';
    process.stderr.write(
      `${hostile.name}: ${usual.map(Math.round).join(' ')} | ${beside.map(Math.round).join(' ')} ms\n`,
    );
    return [
      {
        name: `${hostile.name}: a change of others is live`,
        ours: median(beside),
        baseline: median(usual),
        unit: 'ms',
        against,
      },
      { name: '... the first one', ours: first, baseline: median(usual), unit: 'ms', against },
      {
        name: '... event-loop delay',
        ours: busy.delayMs,
        baseline: idle.delayMs,
        unit: 'ms',
        against: 'an idle process',
      },
      {
        name: '... processor time without a turn',
        ours: busy.workMs,
        baseline: idle.workMs,
        unit: 'ms',
        against: 'an idle process',
      },
    ];
  });
}

async function rounds({ change }: Scene): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await change());
  return times;
}

async function withScene<T>(site: Site, hostile: Hostile, work: (scene: Scene) => Promise<T>): Promise<T> {
  const { cluster, place } = site;
  const namespace = `tenancy-${HOSTILE.indexOf(hostile)}`;
  let meet: Parameters<Stage['meet']>[0] = () => false;
  const git = await startGitServer();
  const theirs = await startGitServer({ intercept: (request, response) => meet(request, response) });
  const [own, team] = [git.createRepository('own.git'), theirs.createRepository('team.git')];
  const closing: (() => void)[] = [];
  const stage: Stage = { cluster, team, namespace, closing, meet: (next) => (meet = next) };
  await cluster.send('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  });
  own.commit({ 'cluster/own.yaml': configMap(namespace, 'own', '0') });
  const declared = hostile.declares?.(stage) ?? '';
  team.commit({ 'cluster/team.yaml': `${configMap(namespace, 'team', '0')}---\n${declared}` });
  const config = join(place.folder, `${namespace}.json`);
  writeFileSync(config, JSON.stringify(settingsOf(site, namespace, { own: git.url, team: theirs.url })));
  const runner = await startRunner(place, config);
  let count = 0;
  async function change(): Promise<number> {
    count += 1;
    const startedAt = performance.now();
    own.commit({ 'cluster/own.yaml': configMap(namespace, 'own', String(count)) });
    await untilLive(cluster, namespace, 'own', String(count));
    return performance.now() - startedAt;
  }
  try {
    await untilLive(cluster, namespace, 'team', '0');
    return await work({ ...stage, runner, change });
  } finally {
    for (const close of closing.toReversed()) close();
    await runner.stop();
    await Promise.all([git.close(), theirs.close()]);
  }
}

function settingsOf({ place, cluster, catalogue }: Site, namespace: string, urls: Readonly<Record<string, string>>) {
  const sources = Object.entries(urls).map(([name, url]) => ({
    name,
    repository: `${url}/${name}.git`,
    branch: 'main',
    path: 'cluster',
  }));
  return {
    name: namespace,
    sources,
    schedule: '* * * * * *',
    jitterSeconds: 0,
    cluster: { kubeconfig: cluster.kubeconfigPath },
    catalogue,
    apply: { waitSeconds: 0 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: join(place.folder, namespace),
  };
}

async function untilLive(cluster: TestCluster, namespace: string, name: string, value: string): Promise<void> {
  const until = performance.now() + LIVE_WITHIN_MS;
  for (let live: unknown; live !== value; ) {
    assert(performance.now() < until, `${namespace}/${name} is not live in time`);
    await pause(10);
    const { body } = await cluster.send('GET', `/api/v1/namespaces/${namespace}/configmaps/${name}`);
    live = body?.data?.value;
  }
}
