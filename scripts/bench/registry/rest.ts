// The registry service when no one asks for much: how much memory it has, and whether a sync keeps it from answering. As the image
// starts it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore } from '#adapters/postgres/store.ts';
import { REGISTRY, syncText } from '../catalogue.ts';
import { imageNodeOptions, moduleNodeOptions } from '../compiled.ts';
import type { BenchDatabase } from '../database.ts';
import { registryOf } from '../manifests.ts';
import { type AskedProcess, residentMiB, startModule, startProgram } from '../processes.ts';
import type { Row } from '../table.ts';
import type { Longest } from '../watched-turns.ts';
import { NAMES, VERSIONS, versionsOf } from './versions.ts';

export interface RestPlace {
  readonly folder: string;
  readonly program: string;
  readonly database: BenchDatabase;
}

const SAMPLE = 102;
const MANY = NAMES * VERSIONS.length;
/** Until garbage is collected that no one waits for. */
const REST_MS = 10_000;

/** After a list, a search and the facets were asked for: what they need stays. */
export async function measureMemory(place: RestPlace): Promise<Row[]> {
  const store = createStore(openPool(place.database.app));
  try {
    await syncText(store, 'sample', JSON.stringify(registryOf(SAMPLE)));
  } finally {
    await store.close();
  }
  return [...(await memoryOf(place, 'sample', SAMPLE, 120)), ...(await memoryOf(place, 'tools', MANY, 250))];
}

async function memoryOf(place: RestPlace, source: string, count: number, goal: number): Promise<Row[]> {
  const registry = { name: source, file: { path: '/unused.json' }, syncedBy: 'reconciler' };
  const file = configFile(place, { registries: [registry] });
  const service = await startProgram([...imageNodeOptions(), place.program, 'serve', '-c', file]);
  try {
    const base = `${service.ready.trim().split(' ').at(-1)}/${source}/v0.1`;
    for (const path of ['servers', 'servers?search=server', 'x/dev.skep/facets']) await fetchJson(`${base}/${path}`);
    await pause(REST_MS);
    return memoryRow(service.pid, `${count} entries`, goal);
  } finally {
    await service.stop();
  }
}

function memoryRow(pid: number, what: string, goal: number): Row[] {
  const mib = residentMiB(pid);
  if (mib === undefined) return [];
  const ours = (mib * 1024 * 1024) / 1e6;
  return [{ name: `memory at rest, ${what}`, ours, baseline: goal, unit: 'MB', against: 'the goal' }];
}

/** JSON is YAML. */
function configFile({ folder, database: { app, passFile } }: RestPlace, more: object): string {
  const { host, port, user, database } = app;
  const config = {
    registryName: REGISTRY.registry,
    namespace: REGISTRY.namespace,
    listen: { host: '127.0.0.1', port: 0 },
    database: { host, port, user, database, sslMode: 'disable', passFile },
    auth: { mode: 'anonymous' },
    limits: { shutdownGrace: '1ms' },
    ...more,
  };
  const file = join(folder, 'rest.yaml');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/**
 * The longest time between two turns of the event loop of the thread that answers, while a source grows from one entry to all of
 * them and its first page is asked for, beside as long a time in which nothing happens.
 */
export async function measureDelay(place: RestPlace): Promise<Row[]> {
  const path = join(place.folder, 'growing.json');
  const registry = { name: 'growing', format: 'upstream', file: { path }, syncPolicy: { interval: '1s' } };
  writeFileSync(path, versionsOf(1));
  const file = configFile(place, { registryName: 'growing', registries: [registry] });
  const input = { program: place.program, config: file };
  const service = await startModule<string>(
    new URL('./watched-service.ts', import.meta.url),
    input,
    moduleNodeOptions(),
  );
  try {
    await untilServed(service, VERSIONS.length);
    await service.ask('longest');
    const start = performance.now();
    writeFileSync(path, versionsOf(NAMES));
    await untilServed(service, MANY);
    const busy = await service.ask<Longest>('longest');
    await pause(Math.max(REST_MS, performance.now() - start));
    const idle = await service.ask<Longest>('longest');
    const rest = { unit: 'ms', against: 'the same process idle' };
    return [
      { name: `event-loop delay, sync of ${MANY} entries`, ours: busy.delayMs, baseline: idle.delayMs, ...rest },
      { name: '... processor time without a turn', ours: busy.workMs, baseline: idle.workMs, ...rest },
      ...memoryRow(service.pid, `${MANY} entries that it has synced itself`, 250),
    ];
  } finally {
    await service.stop();
  }
}

/** And the page of them that comes first. */
async function untilServed(service: AskedProcess<string>, count: number): Promise<void> {
  for (let served = 0; served !== count; ) {
    await pause(100);
    const info = await fetchJson(`${service.ready}/extension/v0/registries/growing`);
    served = (info as { syncStatus?: { serverCount?: number } }).syncStatus?.serverCount ?? 0;
  }
  await fetchJson(`${service.ready}/growing/v0.1/servers?search=nothing-has-this`);
}

async function fetchJson(url: string): Promise<unknown> {
  const { statusCode, body } = await request(url);
  const text = await body.text();
  assert.equal(statusCode, 200, url);
  return JSON.parse(text);
}
