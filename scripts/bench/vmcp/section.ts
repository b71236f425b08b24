// `skep vmcp serve` beside our proxy, the bare bytes and the bare query: the section of the bench.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWordIndex } from '#adapters/sqlite/word-index.ts';
import { RUN_CONFIG_FILE, type RunConfig } from '#contracts/run-config.ts';
import { searchedText, searchTerms } from '#gateway/virtual-server/optimizer/words.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { imageNodeOptions, moduleNodeOptions } from '../compiled.ts';
import { median } from '../measure.ts';
import { startModule } from '../processes.ts';
import { type Serving, startServing } from '../proxy/serving.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import { costsOf, openSession, post } from './client.ts';

const CALLS = 3000;
const LISTS = 3000;
const PAIRS = 5;
const SEARCHES = 400;
const SEARCHED_TOOLS = 5000;
const SLOW_MS = 200;
const QUERY = 'Search for the invoice that concerns a person and share it';

export async function benchVirtual(place: Place): Promise<Report> {
  const rows = [
    await benchCalls(place),
    await benchLists(place),
    await benchInitialize(place),
    await benchSearch(place),
  ];
  return { rows, notices: [] };
}

interface Members {
  readonly count: number;
  readonly tools: number;
  readonly delayMs?: number;
}

async function withMembers<T>(members: Members, run: (ports: readonly number[]) => Promise<T>): Promise<T> {
  const module = new URL('./members-process.ts', import.meta.url);
  const started = await startModule<readonly number[]>(module, { delayMs: 0, ...members });
  try {
    return await run(started.ready);
  } finally {
    await started.stop();
  }
}

/** As its pod starts it. */
function startRole(place: Place, args: readonly string[]): Promise<Serving> {
  const env = { ...process.env, NODE_ENV: 'production' };
  return startServing(process.execPath, [...imageNodeOptions('calls'), place.program, ...args], env);
}

function startVirtual(place: Place, ports: readonly number[], more: object = {}): Promise<Serving> {
  const backends = ports.map((port, index) => {
    return { name: `m${index}`, url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' };
  });
  const file = join(place.folder, 'config.yaml');
  writeFileSync(file, JSON.stringify({ name: 'bench', backends, incomingAuth: { type: 'anonymous' }, ...more }));
  return startRole(place, ['vmcp', 'serve', '--config', file, '--port', '0', '--log-level', 'error']);
}

async function startProxy(place: Place, port: number): Promise<Serving> {
  const config: Partial<RunConfig> = {
    ...{ schema_version: 'v0.1.0', name: 'bench', namespace: 'bench', transport: 'streamable-http' },
    ...{ proxy_mode: 'streamable-http', host: '127.0.0.1', port: await freePort(), trust_proxy_headers: false },
    ...{ target_host: '127.0.0.1', target_port: port, audit_config: { enabled: false, component: 'bench' } },
  };
  const file = join(place.folder, RUN_CONFIG_FILE);
  writeFileSync(file, JSON.stringify(config));
  return startRole(place, ['proxy', '--config', file, '--log-level', 'error']);
}

async function stopAll(all: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(all.map((each) => each.stop()));
}

/** Retried: a server serves before it has asked its members. */
async function initializeMs(port: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    const opened = await openSession(port).catch(() => undefined);
    if (opened !== undefined) return performance.now() - began;
  }
}

function benchCalls(place: Place): Promise<Row> {
  return withMembers({ count: 10, tools: 20 }, async (ports) => {
    const [virtual, proxy] = [await startVirtual(place, ports), await startProxy(place, ports[0] ?? 0)];
    try {
      await initializeMs(virtual.port);
      const asking = (server: number, count: number) => {
        const name = `${server === 0 ? `m${count % 10}_` : ''}create_invoice_0`;
        return { method: 'tools/call', params: { name, arguments: { text: 'x'.repeat(1000) } } };
      };
      const [ours = 0, baseline = 0] = await costsOf([virtual, proxy], asking, CALLS);
      const title = 'virtual server of 10, tools/call: processor time';
      return { name: title, ours, baseline, unit: 'µs', against: 'skep proxy' };
    } finally {
      await stopAll([virtual, proxy]);
    }
  });
}

/** The pair of the middle: each process has a cost of its own for as long as it runs, whichever of the two it is. */
function benchLists(place: Place): Promise<Row> {
  return withMembers({ count: 50, tools: 20 }, async (ports) => {
    const rows: Row[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) rows.push(await benchListsOnce(place, ports));
    const [row] = rows.toSorted((a, b) => ratioOf(a) - ratioOf(b)).slice(PAIRS >> 1);
    if (row === undefined) throw new Error('nothing was measured');
    return row;
  });
}

function ratioOf({ ours, baseline = 1 }: Row): number {
  return ours / baseline;
}

async function benchListsOnce(place: Place, ports: readonly number[]): Promise<Row> {
  const virtual = await startVirtual(place, ports);
  await initializeMs(virtual.port);
  const asking = { method: 'tools/list', params: {} };
  const bytes = await (await post(virtual.port, await openSession(virtual.port), asking)).text();
  const bare = await startModule<number>(
    new URL('./bytes-process.ts', import.meta.url),
    bytes,
    moduleNodeOptions('calls'),
  );
  try {
    const servers = [virtual, { port: bare.ready, pid: bare.pid }];
    const [ours = 0, baseline = 0] = await costsOf(servers, () => asking, LISTS);
    const name = `tools/list of 50 servers, ${Math.round(bytes.length / 1024)} KiB: processor time`;
    return { name, ours, baseline, unit: 'µs', against: 'writing the same bytes' };
  } finally {
    await stopAll([virtual, bare]);
  }
}

/** From the moment that it serves, when it has just begun to ask. */
async function benchInitialize(place: Place): Promise<Row> {
  async function medianOf(count: number): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await withMembers({ count, tools: 20, delayMs: SLOW_MS }, async (ports) => {
        const virtual = await startVirtual(place, ports);
        all.push(await initializeMs(virtual.port));
        await virtual.stop();
      });
    }
    return median(all);
  }
  const [ours, baseline] = [await medianOf(50), await medianOf(1)];
  const name = `first initialize, 50 servers that answer after ${SLOW_MS} ms`;
  return { name, ours, baseline, unit: 'ms', against: 'one such server' };
}

function benchSearch(place: Place): Promise<Row> {
  return withMembers({ count: 50, tools: SEARCHED_TOOLS / 50 }, async (ports) => {
    const virtual = await startVirtual(place, ports, { optimizer: {} });
    try {
      await initializeMs(virtual.port);
      const asking = { method: 'tools/call', params: { name: 'find_tool', arguments: { tool_description: QUERY } } };
      const [ours = 0] = await costsOf([virtual], () => asking, SEARCHES, SEARCHES);
      const name = `find_tool over ${SEARCHED_TOOLS} tools: processor time`;
      return { name, ours, baseline: await bareQuery(ports), unit: 'µs', against: 'the bare FTS5 query' };
    } finally {
      await virtual.stop();
    }
  });
}

interface Listed {
  readonly result: { readonly tools: readonly { readonly name: string }[] };
}

/** The same query over the same texts. */
async function bareQuery(ports: readonly number[]): Promise<number> {
  const tools: { name: string }[] = [];
  for (const [server, port] of ports.entries()) {
    const { result } = (await (await post(port, {}, { method: 'tools/list', params: {} })).json()) as Listed;
    tools.push(...result.tools.map((tool) => ({ ...tool, name: `m${server}_${tool.name}` })));
  }
  const index = openWordIndex(tools.map((tool) => searchedText(tool.name, Buffer.from(JSON.stringify(tool)))));
  const terms = searchTerms(QUERY, []);
  const rounds = Array.from({ length: 6 }, () => {
    const before = process.cpuUsage();
    for (let count = 0; count < SEARCHES; count += 1) index.search(terms, 8);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / SEARCHES;
  });
  return median(rounds.slice(1));
}
