// What open consoles cost `skep run` over 1,000 servers and 10,000 objects: how much longer its event loop stands still
// with ten consoles open, and what the first view costs a browser.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { moduleNodeOptions } from '../compiled.ts';
import { writeFleet } from '../fleet-world.ts';
import { measureOnServer, type Site } from '../large-site.ts';
import { API_GROUP, fleetOf } from '../manifests.ts';
import { type AskedProcess, startModule } from '../processes.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import type { Longest } from '../watched-turns.ts';
import { measureView } from './first-view.ts';
import { openReaders } from './readers.ts';

const SERVERS = 1_000;
const CONSOLES = 10;
const TOKEN = 'of-the-bench';
/** Three to six runs. */
const WATCHED_MS = 30_000;
const ROUNDS = 3;
const READY_WITHIN_MS = 600_000;

export function benchConsole(place: Place): Promise<Report> {
  return measureOnServer(place, async (site) => {
    for (const kind of KINDS) {
      const definition = crd(kind, API_GROUP);
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
      await site.bare.patch(`${path}?fieldManager=bench`, JSON.stringify(definition));
    }
    const namespace = `${site.run}-console`;
    const repository = await writeFleet(site.folder, fleetOf(SERVERS, namespace));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const config = settingsOf(site, { namespace, repository, port });
    const runner = await startModule<string>(
      new URL('../tenancy/watched-run.ts', import.meta.url),
      { program: site.program, config },
      moduleNodeOptions(),
    );
    try {
      const fleet = await untilMade(url);
      return [...(await loopRows(runner, url, namespace)), ...(await viewRows(url, fleet))];
    } finally {
      await runner.stop();
    }
  });
}

function settingsOf(
  { folder, kubeconfig }: Site,
  { namespace, repository, port }: { readonly namespace: string; readonly repository: string; readonly port: number },
): string {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, TOKEN);
  const file = join(folder, 'skep.yaml');
  const settings = {
    name: namespace,
    sources: [{ name: 'fleet', repository: pathToFileURL(repository).href, branch: 'main', path: 'cluster' }],
    schedule: '*/5 * * * * *',
    jitterSeconds: 0,
    cluster: { kubeconfig },
    apply: { waitSeconds: 0 },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'], allowFiles: true },
    http: { address: `127.0.0.1:${port}`, tokenFile },
    stateDir: join(folder, 'state'),
  };
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

interface FleetSize {
  readonly entries: number;
  readonly objects: number;
}

/** Resolves when a run has made everything. */
async function untilMade(url: string): Promise<FleetSize> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const fleet = await fetch(`${url}/fleet`, { headers: { authorization: `Bearer ${TOKEN}` } })
      .then((response) => response.json() as Promise<{ readonly entries: readonly { readonly objects: number }[] }>)
      .catch(() => undefined);
    const entries = fleet?.entries ?? [];
    const objects = entries.reduce((sum, entry) => sum + entry.objects, entries.length);
    if (entries.length > SERVERS && objects > SERVERS) {
      // The first run after that reads and compares everything once more.
      await pause(WATCHED_MS);
      return { entries: entries.length, objects };
    }
    assert(performance.now() < deadline, `the fleet is not made: ${entries.length} entries, ${objects} objects`);
    await pause(1000);
  }
}

async function loopRows(runner: AskedProcess<string>, url: string, namespace: string): Promise<Row[]> {
  const resources = Array.from({ length: CONSOLES }, (_, index) => `${namespace}/MCPServer/server-${index * 97}`);
  const [usual, beside]: [Longest[], Longest[]] = [[], []];
  let answers = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    usual.push(await watch(runner));
    const readers = openReaders(url, TOKEN, resources);
    beside.push(await watch(runner));
    answers += readers.read().answers;
    await readers.close();
  }
  assert(answers > ROUNDS * CONSOLES * 3, `the consoles read ${answers} answers`);
  const of = `event loop of skep run, ${CONSOLES} consoles on ${SERVERS} servers`;
  const against = 'without consoles, in turns';
  const row = (name: string, value: (longest: Longest) => number): Row => ({
    ...{ name, unit: 'ms', against },
    ours: mean(beside.map(value)),
    baseline: mean(usual.map(value)),
  });
  return [
    row(`${of}: delay, p99`, ({ p99Ms }) => p99Ms),
    row('... delay, longest', ({ delayMs }) => delayMs),
    row('... work between two turns, p99', ({ workP99Ms }) => workP99Ms),
    row('... longest work between two turns', ({ workMs }) => workMs),
    { name: '... answers to one console in half a minute', ours: answers / ROUNDS / CONSOLES, unit: 'answers' },
  ];
}

async function watch(runner: AskedProcess<string>): Promise<Longest> {
  await runner.ask('longest');
  await pause(WATCHED_MS);
  return runner.ask<Longest>('longest');
}

async function viewRows(url: string, { entries, objects }: FleetSize): Promise<Row[]> {
  const view = await measureView(url, TOKEN, entries);
  if (view === undefined) return [];
  return [
    { name: `console, first view of ${entries} entries, ${objects} objects`, ours: view.firstViewMs, unit: 'ms' },
    { name: '... longest task while filtering', ours: view.longestTaskMs, unit: 'ms' },
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
