// Measures how soon the children of custom resources follow a change, if others apply the resources and an instance has no sources.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { measureOnServer, type Site } from './large-site.ts';
import { API_GROUP } from './manifests.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const SIZES = [100, 1_000];
const CHANGES = 100;
const POLL_MS = 10;
/** Between two changes: at any moment of a run, and of the time between runs. */
const PAUSE_MAX_MS = 1_500;

export function benchOperator(place: Place): Promise<Report> {
  return measureOnServer(place, async (site) => {
    const rows: Row[] = [];
    for (const servers of SIZES) rows.push(...(await measureChanges(site, place, servers)));
    return rows;
  });
}

async function measureChanges(site: Site, { program }: Place, servers: number): Promise<Row[]> {
  const namespace = `${site.run}-operator-${servers}`;
  const others = await connectCluster({
    kubeconfig: site.kubeconfig,
    fieldManager: 'kustomize-controller',
    concurrency: 16,
    version: 'bench',
    clock: systemClock,
  });
  for (const kind of KINDS) await others.apply(crd(kind, API_GROUP), { force: true });
  others.refresh();
  await others.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, { force: true });
  const skep = spawn(process.execPath, [program, 'run', '-c', settingsOf(site, namespace)], { stdio: 'ignore' });
  const ended = once(skep, 'exit');
  try {
    const start = performance.now();
    const names = Array.from({ length: servers }, (_, number) => `server-${number}`);
    await Promise.all(names.map((name) => others.apply(serverOf(namespace, name, 0), { force: true })));
    const applied = performance.now() - start;
    for (const name of names) await untilChanged(others, namespace, name, 0);
    const made = performance.now() - start;
    // Statuses are written, and the runs have become quiet.
    await sleep(20_000);
    const took: number[] = [];
    for (let change = 1; change <= CHANGES; change += 1) {
      const name = `server-${(change * 7) % servers}`;
      await sleep(Math.random() * PAUSE_MAX_MS);
      const changedAt = performance.now();
      await others.apply(serverOf(namespace, name, change), { force: true });
      await untilChanged(others, namespace, name, change);
      took.push(performance.now() - changedAt);
    }
    took.sort((a, b) => a - b);
    const at = (share: number) => took[Math.ceil(took.length * share) - 1] ?? Number.NaN;
    const of = `${servers} MCPServers of others`;
    return [
      {
        name: `${of}: all have children`,
        ours: made,
        baseline: applied,
        unit: 'ms',
        against: 'the time to apply them',
      },
      { name: `${of}: a change reaches a child, median`, ours: at(0.5), unit: 'ms' },
      { name: `${of}: ... p99 of ${CHANGES}`, ours: at(0.99), unit: 'ms' },
    ];
  } finally {
    skep.kill();
    await Promise.all([ended, others.close()]);
  }
}

function settingsOf(site: Site, namespace: string): string {
  const folder = join(site.folder, namespace);
  mkdirSync(folder);
  const file = join(folder, 'skep.yaml');
  const settings = {
    name: namespace,
    sources: [],
    scope: 'cluster',
    namespaces: [namespace],
    cluster: { kubeconfig: site.kubeconfig },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    stateDir: join(folder, 'state'),
  };
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

function serverOf(namespace: string, name: string, version: number): KubeObject {
  return {
    apiVersion: `${API_GROUP}/v1beta1`,
    kind: 'MCPServer',
    metadata: { name, namespace },
    spec: { image: `images.example.com/${name}:${version}`, transport: 'streamable-http', mcpPort: 8080 },
  };
}

/** The pods of the server have the image. */
async function untilChanged(others: ConnectedCluster, namespace: string, name: string, version: number): Promise<void> {
  const id = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, name };
  const image = JSON.stringify(`images.example.com/${name}:${version}`);
  const deadline = performance.now() + 600_000;
  for (;;) {
    const found = await others.get(id);
    if (found !== undefined && JSON.stringify(found.spec).includes(image)) return;
    assert(performance.now() < deadline, `the children of ${name} do not have ${image}`);
    await sleep(POLL_MS);
  }
}
