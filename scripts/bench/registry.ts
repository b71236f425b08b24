// The registry service over a real database, with tokens: beside a bare node:http server that answers the same bytes,
// beside what one would write first, and at a steady rate.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { request } from 'undici';
import { openPool } from '../../src/adapters/postgres/pool.ts';
import { createStore } from '../../src/adapters/postgres/store.ts';
import { parseRegistry } from '../../src/catalogue/formats/registry.ts';
import type { BareAnswer } from './bare-server.ts';
import { REGISTRY, syncText } from './catalogue.ts';
import { cpuMs } from './cpu.ts';
import { type BenchDatabase, openBenchDatabase } from './database.ts';
import { type Asked, ask } from './http-load.ts';
import { registryOf } from './manifests.ts';
import { medians } from './measure.ts';
import { pace, percentile } from './paced.ts';
import { residentMiB, type ServerProcess, startModule, startProgram } from './processes.ts';
import type { Place } from './sections.ts';
import type { Report, Row } from './table.ts';

/** Three versions of each: as many as the official registry has. */
const NAMES = 7000;
const VERSIONS = ['0.9.0', '1.0.0', '1.1.0'];
const REQUESTS = 2000;
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
    const service = await startProgram([program, 'serve', '-c', configFile(folder, database, issuer.url)]);
    try {
      const token = { authorization: `Bearer ${issuer.token}` };
      return { rows: await measure(service, database, token), notices: [] };
    } finally {
      await service.stop();
    }
  } finally {
    issuer.server.close();
    await database.stop();
  }
}

/** The sample registry under many names, in the official format, in three versions each. */
function versionsOf(names: number): string {
  const parsed = parseRegistry('toolhive', JSON.stringify(registryOf(names)), 'registry.json');
  assert(parsed.ok);
  const servers = parsed.entries.flatMap(({ document }) => VERSIONS.map((version) => ({ ...document, version })));
  return JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } });
}

interface BenchIssuer {
  readonly url: string;
  readonly token: string;
  readonly server: Server;
}

/** Keys behind a URL, and a token that they verify. */
async function startBenchIssuer(): Promise<BenchIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await new SignJWT({ scope: 'mcp-registry:read' })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(url)
    .setAudience('bench')
    .setExpirationTime('1h')
    .sign(privateKey);
  return { url, token, server };
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
    ...(await besideBare(url, `GET ${PATH}`, token)),
    ...(await besideBare(url, 'the same, gzip', { ...token, 'accept-encoding': 'gzip' })),
    ...(await besideBare(url, 'the same, If-None-Match: 304', named)),
    ...(await besideFastify(url, database, token)),
    ...(await steadily(url, token, { service: service.pid, PostgreSQL: database.pid })),
    ...memory(service),
  ];
}

async function besideBare(url: string, name: string, headers: Headers): Promise<Row[]> {
  const answer = await sampleAnswer(url, headers);
  const bare = await startModule<number>(new URL('./bare-server.ts', import.meta.url), answer);
  try {
    return [
      await compare(url, bare.ready, { name, headers, status: answer.status, against: AGAINST, requests: REQUESTS }),
    ];
  } finally {
    await bare.stop();
  }
}

async function besideFastify(url: string, { app }: BenchDatabase, headers: Headers): Promise<Row[]> {
  const { host, port, user, password = '', database } = app;
  const input = { host, port, user, password, database };
  const plain = await startModule<number>(new URL('./plain-fastify.ts', import.meta.url), input);
  try {
    const against = 'Fastify: query, map, return';
    const compared = { name: `GET ${PATH}`, headers, status: 200, against, requests: FEW_REQUESTS };
    return [await compare(url, plain.ready, compared)];
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

async function compare(url: string, port: number, compared: Compared): Promise<Row> {
  const { name, headers, status, against, requests } = compared;
  const asked: Asked = { port: Number(new URL(url).port), path: PATH, headers, status };
  const times = await medians(ROUNDS, {
    ours: () => ask(asked, requests, CONNECTIONS),
    other: () => ask({ ...asked, port }, requests, CONNECTIONS),
  });
  const [ours, baseline] = [times.ours, times.other].map((ms) => (requests * 1000) / ms);
  assert(ours !== undefined && baseline !== undefined);
  return { name, ours, baseline, unit: 'requests/s', against };
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

function memory(service: ServerProcess<string>): Row[] {
  const ours = residentMiB(service.pid);
  return ours === undefined ? [] : [{ name: 'memory of the service after it', ours, unit: 'MiB' }];
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
