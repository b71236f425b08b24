// `skep proxy` with everything on, beside proxies that do nothing but pass: the section of the bench.

import { median } from '../measure.ts';
import { startModule } from '../processes.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';
import { type CallCost, type Contestant, costsOf } from './calls.ts';
import {
  buildReverseProxy,
  PLAIN_PROXY,
  type ProxyWorld,
  startPassThrough,
  startProxy,
  startReverseProxy,
} from './contestants.ts';
import { startProxyIssuer } from './issuer.ts';
import { type Load, startLoad } from './load.ts';
import { largeAnswerMiB, possibleStreams, streamKiB } from './memory.ts';
import { LARGE_STREAM_TOOL, LARGE_TOOL } from './messages.ts';
import type { Serving } from './serving.ts';
import { measureStart } from './start-up.ts';

const CALLERS = 256;
const BUSY = { calls: 10_000, warmUp: 2000, rounds: 9 };
const CONNECTIONS = [32, 256];
const ALONE = { connections: 1, calls: 3000, warmUp: 500, rounds: 5 };
const STREAMS = [1000, 10_000];
const LARGE_ROUNDS = 3;

const DIRECT = 'direct';
const PASS_THROUGH = 'node:http pass-through';
const GO = 'Go ReverseProxy';
const OURS = 'skep proxy';
const READS_ARGUMENTS = 'skep proxy, policies read arguments';
const READS_VALUES = 'skep proxy, policies compute';
const STDIO = 'skep proxy, standard streams';

interface Bench {
  readonly world: ProxyWorld;
  readonly load: Load;
  readonly backendPid: number;
  /** The program; undefined without Go. */
  readonly go: string | undefined;
}

export async function benchProxy(place: Place): Promise<Report> {
  const issuer = await startProxyIssuer(CALLERS);
  const backend = await startModule<number>(new URL('./backend-process.ts', import.meta.url), 0);
  const load = await startLoad();
  const world = { place, issuer, backendPort: backend.ready };
  const bench = { world, load, backendPid: backend.pid, go: buildReverseProxy(place.folder) };
  try {
    const calls = await benchCalls(bench, { port: backend.ready, pid: backend.pid, stop: () => Promise.resolve() });
    const rows = [
      ...calls,
      ...(await benchStreams(bench)),
      ...(await benchLarge(bench)),
      ...(await benchStartUp(bench)),
    ];
    return {
      rows,
      notices: bench.go === undefined ? ['Go is not installed: left out, and node:http in its place'] : [],
    };
  } finally {
    await load.stop();
    await backend.stop();
    issuer.stop();
  }
}

async function benchCalls({ world, load, backendPid, go }: Bench, direct: Serving): Promise<Row[]> {
  const contestants: Contestant[] = [];
  async function enter(name: string, start: Serving | Promise<Serving>): Promise<void> {
    contestants.push({ name, serving: await start, tokens: world.issuer.tokens });
  }
  try {
    await enter(DIRECT, direct);
    await enter(PASS_THROUGH, startPassThrough(world));
    if (go !== undefined) await enter(GO, startReverseProxy(go, world));
    await enter(OURS, startProxy(world, PLAIN_PROXY));
    await enter(READS_ARGUMENTS, startProxy(world, { ...PLAIN_PROXY, policies: 'arguments' }));
    await enter(READS_VALUES, startProxy(world, { ...PLAIN_PROXY, policies: 'values' }));
    await enter(STDIO, startProxy(world, { ...PLAIN_PROXY, backend: 'stdio' }));
    const rows: Row[] = [];
    for (const connections of CONNECTIONS) {
      const costs = await costsOf(contestants, { load, backendPid }, { ...BUSY, connections });
      rows.push(...costRows(costs, connections, go === undefined ? PASS_THROUGH : GO));
    }
    const alone = contestants.filter(({ name }) => [DIRECT, PASS_THROUGH, OURS].includes(name));
    const waits = await costsOf(alone, { load, backendPid }, ALONE);
    return [...rows, addedRow(waits)];
  } finally {
    await Promise.all(contestants.map(({ serving }) => serving.stop()));
  }
}

type Costs = ReadonlyMap<string, readonly CallCost[]>;

function costRows(costs: Costs, connections: number, bare: string): Row[] {
  const cpu = (name: string) => median((costs.get(name) ?? []).map((cost) => cost.cpu));
  const least = (name: string) => Math.min(...(costs.get(name) ?? []).map((cost) => cost.cpu));
  const at = `${connections} connections`;
  return [
    rowOf(`tools/call, ${at}: processor time`, cpu(OURS), cpu(bare), bare),
    rowOf('... the least of all rounds', least(OURS), least(bare), bare),
    ...(bare === PASS_THROUGH ? [] : [rowOf('... beside Node', cpu(OURS), cpu(PASS_THROUGH), PASS_THROUGH)]),
    rowOf('... policies read arguments', cpu(READS_ARGUMENTS), cpu(OURS), 'policies read claims'),
    rowOf('... policies compute with arguments', cpu(READS_VALUES), cpu(OURS), 'policies read claims'),
    rowOf('... server on standard streams', cpu(STDIO), cpu(PASS_THROUGH), PASS_THROUGH),
  ];
}

function rowOf(name: string, ours: number, baseline: number, against: string): Row {
  return { name, ours, baseline, unit: 'µs', against };
}

/** What a client waits longer than without any proxy. */
function addedRow(waits: Costs): Row {
  const p50 = (name: string) => median((waits.get(name) ?? []).map((cost) => cost.p50)) * 1000;
  const [ours, baseline] = [p50(OURS) - p50(DIRECT), p50(PASS_THROUGH) - p50(DIRECT)];
  return rowOf('tools/call, one connection: added p50', ours, baseline, PASS_THROUGH);
}

async function benchStreams({ world, load }: Bench): Promise<Row[]> {
  const { tokens } = world.issuer;
  const rows: Row[] = [];
  for (const wanted of STREAMS) {
    const streams = possibleStreams(wanted);
    const baseline = await whileServing(startPassThrough(world), (it) => streamKiB(it, load, tokens, streams));
    const ours = await whileServing(startProxy(world, PLAIN_PROXY), (it) => streamKiB(it, load, tokens, streams));
    rows.push({ name: `${streams} idle streams: memory of one`, ours, baseline, unit: 'KiB', against: PASS_THROUGH });
  }
  return rows;
}

/** When memory is given back is chance, so each passes three times, each time through a process of its own. */
async function benchLarge({ world, load }: Bench): Promise<Row[]> {
  async function growth(start: () => Promise<Serving>, tool: string): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round < LARGE_ROUNDS; round += 1) {
      all.push(await whileServing(start(), (it) => largeAnswerMiB(it, load, world.issuer.tokens, tool)));
    }
    return median(all);
  }
  const rows: Row[] = [];
  for (const tool of [LARGE_TOOL, LARGE_STREAM_TOOL]) {
    const baseline = await growth(() => startPassThrough(world), tool);
    const ours = await growth(() => startProxy(world, PLAIN_PROXY), tool);
    const name = `answer of 100 MiB, ${tool === LARGE_TOOL ? 'JSON' : 'stream'}: memory grows by`;
    rows.push({ name, ours, baseline, unit: 'MiB', against: PASS_THROUGH });
  }
  return rows;
}

async function whileServing<T>(start: Promise<Serving>, run: (serving: Serving) => Promise<T>): Promise<T> {
  const serving = await start;
  try {
    return await run(serving);
  } finally {
    await serving.stop();
  }
}

async function benchStartUp({ world }: Bench): Promise<Row[]> {
  const { medianMs, leastMs, atRest, peak } = await measureStart(() => startProxy(world, PLAIN_PROXY));
  const against = 'the goal';
  return [
    { name: 'start to the first answer of /health', ours: medianMs, baseline: 300, unit: 'ms', against },
    { name: '... the least of all starts', ours: leastMs, baseline: 300, unit: 'ms', against },
    { name: 'memory at rest', ours: atRest, baseline: 100, unit: 'MiB', against },
    { name: '... the most since the start', ours: peak, unit: 'MiB' },
  ];
}
