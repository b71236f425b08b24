// The registry service over a real database, beside a bare node:http server that answers the same bytes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { openPool } from '../../src/adapters/postgres/pool.ts';
import { createStore } from '../../src/adapters/postgres/store.ts';
import type { BareAnswer } from './bare-server.ts';
import { REGISTRY, syncText } from './catalogue.ts';
import { type BenchDatabase, openBenchDatabase } from './database.ts';
import { type Asked, ask } from './http-load.ts';
import { registryOf } from './manifests.ts';
import { medians } from './measure.ts';
import { residentMiB, type ServerProcess, startModule, startProgram } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

const ENTRIES = 1000;
const REQUESTS = 2000;
const CONNECTIONS = 16;
const ROUNDS = 5;
const PATH = '/tools/v0.1/servers?limit=100';
const AGAINST = 'node:http, the same bytes';

export async function benchRegistry({ folder, program }: Place): Promise<Report> {
  const database = await openBenchDatabase(folder);
  try {
    const store = createStore(openPool(database.app));
    await syncText(store, 'tools', JSON.stringify(registryOf(ENTRIES)));
    await store.close();
    const service = await startProgram([program, 'serve', '-c', configFile(folder, database)]);
    try {
      return await compareAnswers(service);
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
}

/** JSON is YAML. */
function configFile(folder: string, { app, passFile }: BenchDatabase): string {
  const { host, port, user, database } = app;
  const file = join(folder, 'registry.yaml');
  const config = {
    registryName: REGISTRY.registry,
    namespace: REGISTRY.namespace,
    listen: { host: '127.0.0.1', port: 0 },
    registries: [{ name: 'tools', file: { path: '/unused.json' } }],
    database: { host, port, user, database, sslMode: 'disable', passFile },
    auth: { mode: 'anonymous' },
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function compareAnswers(service: ServerProcess<string>): Promise<Report> {
  const url = service.ready.trim().split(' ').at(-1) ?? '';
  const { headers } = await sampleAnswer(`${url}${PATH}`, {});
  const rows = [
    ...(await compareOne(service, url, `GET ${PATH}`, {})),
    ...(await compareOne(service, url, 'the same, gzip', { 'accept-encoding': 'gzip' })),
    ...(await compareOne(service, url, 'the same, If-None-Match: 304', { 'if-none-match': headers.etag ?? '' })),
  ];
  // The last memory row is that after everything.
  return { rows: rows.filter(({ unit }, index) => unit !== 'MiB' || index === rows.length - 1), notices: [] };
}

async function compareOne(
  service: ServerProcess<string>,
  url: string,
  name: string,
  headers: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const answer = await sampleAnswer(`${url}${PATH}`, headers);
  const bare = await startModule<number>(new URL('./bare-server.ts', import.meta.url), answer);
  try {
    const asked: Asked = { port: Number(new URL(url).port), path: PATH, headers, status: answer.status };
    const times = await medians(ROUNDS, {
      ours: () => ask(asked, REQUESTS, CONNECTIONS),
      bare: () => ask({ ...asked, port: bare.ready }, REQUESTS, CONNECTIONS),
    });
    const [ours, baseline] = [times.ours, times.bare].map((ms) => (REQUESTS * 1000) / ms);
    assert(ours !== undefined && baseline !== undefined);
    return [{ name, ours, baseline, unit: 'requests/s', against: AGAINST }, ...memory(service, bare)];
  } finally {
    await bare.stop();
  }
}

function memory(service: ServerProcess<string>, bare: ServerProcess<number>): Row[] {
  const [ours, baseline] = [residentMiB(service.pid), residentMiB(bare.pid)];
  if (ours === undefined || baseline === undefined) return [];
  return [{ name: 'memory of the service after it', ours, baseline, unit: 'MiB', against: AGAINST }];
}

/** With the headers that the service sends, so that both send as many bytes. */
async function sampleAnswer(url: string, asked: Readonly<Record<string, string>>): Promise<BareAnswer> {
  const { statusCode, headers, body } = await request(url, { headers: asked });
  const bytes = Buffer.from(await body.arrayBuffer());
  const own = Object.entries(headers).filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name),
  );
  const sent: Record<string, string> = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
  if (statusCode === 200) sent['content-length'] = String(bytes.length);
  return { status: statusCode, headers: sent, body: bytes.toString('base64') };
}
