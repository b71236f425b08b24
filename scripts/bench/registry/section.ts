// The registry service over a real database, with tokens: beside a bare node:http server that answers the same bytes,
// beside what one would write first, and at a steady rate.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore } from '#adapters/postgres/store.ts';
import type { BareAnswer } from '../bare-server.ts';
import { REGISTRY, syncText } from '../catalogue.ts';
import { imageNodeOptions } from '../compiled.ts';
import { cpuMs, ownCpuMs } from '../cpu.ts';
import { type BenchDatabase, openBenchDatabase } from '../database.ts';
import { type Asked, ask } from '../http-load.ts';
import { medians } from '../measure.ts';
import { pace, percentile } from '../paced.ts';
import { type ServerProcess, startModule, startProgram } from '../processes.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import { startBenchIssuer } from './issuer.ts';
import { measureDelay, measureMemory } from './rest.ts';
import { NAMES, VERSIONS, versionsOf } from './versions.ts';

const REQUESTS = 2000;
const WARM_UP_REQUESTS = 4000;
/** Beside what is much slower. */
const FEW_REQUESTS = 400;
const CONNECTIONS = 16;
const ROUNDS = 5;
const PER_SECOND = 200;
const PACED_REQUESTS = 600;
const LIST = '/tools/v0.1/servers';
const PATH = `${LIST}?limit=100`;
const AGAINST = 'node:http, the same bytes';

type Headers = Readonly<Record<string, string>>;

export async function benchRegistry({ folder, program }: Place): Promise<Report> {
  const database = await openBenchDatabase(folder);
  const issuer = await startBenchIssuer();
  try {
    const store = createStore(openPool(database.app));
    await syncText(store, 'tools', versionsOf(NAMES), undefined, 'upstream');
    await store.close();
    const file = configFile(folder, database, issuer.url);
    const service = await startProgram([...imageNodeOptions(), ...profileOptions(), program, 'serve', '-c', file]);
    const token = { authorization: `Bearer ${issuer.token}` };
    let rows: readonly Row[];
    try {
      rows = await measure(service, database, token);
    } finally {
      await service.stop();
    }
    const place = { folder, program, database };
    return { rows: [...rows, ...(await measureMemory(place)), ...(await measureDelay(place))], notices: [] };
  } finally {
    issuer.server.close();
    await database.stop();
  }
}

/** SKEP_BENCH_PROFILE names a folder for the profile of the service. */
function profileOptions(): readonly string[] {
  const profile = process.env.SKEP_BENCH_PROFILE;
  return profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
}

/** JSON is YAML. */
function configFile(folder: string, { app, passFile }: BenchDatabase, issuerUrl: string): string {
  const { host, port, user, database } = app;
  const file = join(folder, 'registry.yaml');
  const provider = { name: 'bench', issuerUrl, jwksUrl: `${issuerUrl}/jwks`, audience: 'bench', allowPrivateIP: true };
  const config = {
    registryName: REGISTRY.registry,
    namespace: REGISTRY.namespace,
    listen: { host: '127.0.0.1', port: 0 },
    registries: [{ name: 'tools', file: { path: '/unused.json' }, syncedBy: 'reconciler' }],
    database: { host, port, user, database, sslMode: 'disable', passFile },
    auth: { oauth: { resourceUrl: 'https://registry.example', enforceScopes: true, providers: [provider] } },
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function measure(service: ServerProcess<string>, database: BenchDatabase, token: Headers): Promise<Row[]> {
  const url = service.ready.trim().split(' ').at(-1) ?? '';
  const { headers } = await sampleAnswer(url, token);
  const named = { ...token, 'if-none-match': headers.etag ?? '' };
  return [
    ...(await besideBare(service, url, `GET ${PATH}`, token)),
    ...(await besideBare(service, url, 'the same, gzip', { ...token, 'accept-encoding': 'gzip' })),
    ...(await besideBare(service, url, 'the same, If-None-Match: 304', named)),
    ...(await besideFastify(service, url, database, token)),
    ...(await steadily(url, token, { service: service.pid, PostgreSQL: database.pid })),
  ];
}

async function besideBare(service: ServerProcess<string>, url: string, name: string, headers: Headers): Promise<Row[]> {
  const answer = await sampleAnswer(url, headers);
  const bare = await startModule<number>(new URL('../bare-server.ts', import.meta.url), answer);
  try {
    const compared = { name, headers, status: answer.status, against: AGAINST, requests: REQUESTS };
    return await compare(url, [service, bare], compared);
  } finally {
    await bare.stop();
  }
}

async function besideFastify(
  service: ServerProcess<string>,
  url: string,
  { app }: BenchDatabase,
  headers: Headers,
): Promise<Row[]> {
  const { host, port, user, password = '', database } = app;
  const input = { host, port, user, password, database };
  const plain = await startModule<number>(new URL('../plain-fastify.ts', import.meta.url), input);
  try {
    const against = 'Fastify: query, map, return';
    const compared = { name: `GET ${PATH}`, headers, status: 200, against, requests: FEW_REQUESTS };
    return await compare(url, [service, plain], compared);
  } finally {
    await plain.stop();
  }
}

interface Compared {
  readonly name: string;
  readonly headers: Headers;
  readonly status: number;
  readonly against: string;
  readonly requests: number;
}

/** Requests a second, and what one costs each process: that hardly depends on what else the machine does. */
async function compare(
  url: string,
  [service, other]: readonly [ServerProcess<string>, ServerProcess<number>],
  compared: Compared,
): Promise<Row[]> {
  const { name, headers, status, against, requests } = compared;
  const asked: Asked = { port: Number(new URL(url).port), path: PATH, headers, status };
  // Until both are compiled.
  for (const port of [asked.port, other.ready]) await ask({ ...asked, port }, WARM_UP_REQUESTS, CONNECTIONS);
  const used = { ours: 0, other: 0 };
  async function measured(who: keyof typeof used, pid: number, port: number): Promise<void> {
    const before = ownCpuMs(pid) ?? Number.NaN;
    await ask({ ...asked, port }, requests, CONNECTIONS);
    used[who] += (ownCpuMs(pid) ?? Number.NaN) - before;
  }
  const times = await medians(ROUNDS, {
    ours: () => measured('ours', service.pid, asked.port),
    other: () => measured('other', other.pid, other.ready),
  });
  const [ours, baseline] = [times.ours, times.other].map((ms) => (requests * 1000) / ms);
  assert(ours !== undefined && baseline !== undefined);
  const [cost, otherCost] = [used.ours, used.other].map((ms) => ms / requests / (ROUNDS + 1));
  return [
    { name, ours, baseline, unit: 'requests/s', against },
    ...(cost === undefined || Number.isNaN(cost)
      ? []
      : [{ name: '... processor time', ours: cost, baseline: otherCost, unit: 'ms', against }]),
  ];
}

/** Pages of the default size from all over the list, and searches; none of them was asked for before. */
async function steadily(url: string, headers: Headers, pids: Readonly<Record<string, number>>): Promise<Row[]> {
  const pages = await pagePaths(url, headers);
  assert(pages.length >= 2 * PACED_REQUESTS);
  const spread = Array.from({ length: 2 * PACED_REQUESTS }, (_, index) => pages[(index * 37) % pages.length] ?? LIST);
  const searches = Array.from({ length: 2 * PACED_REQUESTS }, (_, index) => `${LIST}?search=${wordOf(index)}`);
  return [
    ...(await paced('list page', url, headers, pids, spread)),
    ...(await paced('new search', url, headers, pids, searches)),
  ];
}

/** The first half warms up. */
async function paced(
  what: string,
  origin: string,
  headers: Headers,
  pids: Readonly<Record<string, number>>,
  paths: readonly string[],
): Promise<Row[]> {
  const load = { origin, headers, perSecond: PER_SECOND, connections: CONNECTIONS };
  await pace({ ...load, paths: paths.slice(PACED_REQUESTS) });
  const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, ms: cpuMs(pid) }));
  const times = await pace({ ...load, paths: paths.slice(0, PACED_REQUESTS) });
  const at = `${what} at ${PER_SECOND}/s, ${NAMES * VERSIONS.length} versions`;
  const costs = before.flatMap(({ name, pid, ms }): Row[] => {
    const after = cpuMs(pid);
    if (ms === undefined || after === undefined) return [];
    return [{ name: `... processor time, ${name}`, ours: (after - ms) / PACED_REQUESTS, unit: 'ms' }];
  });
  return [
    { name: `${at}: p99`, ours: percentile(times, 0.99), baseline: 20, unit: 'ms', against: 'the goal' },
    ...costs,
  ];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-_~';

/** Of one or two letters, and longer ones of which some find nothing, some a few and some many. */
function wordOf(index: number): string {
  const [one, two] = [LETTERS[index % LETTERS.length], LETTERS[Math.floor(index / LETTERS.length) % LETTERS.length]];
  const page = `limit=${(index % 100) + 1}&version=${VERSIONS[index % 2]}`;
  return [`nothing-has-${index}`, `-${index}`, `e&${page}`, `${one}${two}`][index % 4] ?? '';
}

/** Addresses of pages of the default size that begin at every tenth version. */
async function pagePaths(url: string, headers: Headers): Promise<readonly string[]> {
  const step = `${LIST}?limit=10`;
  const paths: string[] = [];
  for (let path: string | undefined = step; path !== undefined; ) {
    // A cursor does not care for the size of the page.
    paths.push(path.replace('limit=10', 'limit=30'));
    const cursor: string | undefined = await readNextCursor(`${url}${path}`, headers);
    path = cursor === undefined ? undefined : `${step}&cursor=${cursor}`;
  }
  assert.equal(paths.length, (NAMES * VERSIONS.length) / 10);
  return paths;
}

async function readNextCursor(url: string, headers: Headers): Promise<string | undefined> {
  const { body } = await request(url, { headers });
  const { metadata }: { metadata: { nextCursor?: string } } = JSON.parse(await body.text());
  return metadata.nextCursor;
}

/** With the headers that the service sends, so that both send as many bytes. */
async function sampleAnswer(url: string, asked: Headers): Promise<BareAnswer> {
  const { statusCode, headers, body } = await request(`${url}${PATH}`, { headers: asked });
  const bytes = Buffer.from(await body.arrayBuffer());
  const own = Object.entries(headers).filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name),
  );
  const sent: Record<string, string> = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
  if (statusCode === 200) sent['content-length'] = String(bytes.length);
  return { status: statusCode, headers: sent, body: bytes.toString('base64') };
}
