// `skep proxy` that holds a server of 1,000 tools to its lock, beside the same proxy without a lock: the section of the bench.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatRunConfig } from '#contracts/run-config.ts';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { median } from '../measure.ts';
import { startModule } from '../processes.ts';
import { type CallCost, costsOf } from '../proxy/calls.ts';
import { plainConfig } from '../proxy/configuration.ts';
import { startConfigured } from '../proxy/contestants.ts';
import { startLoad } from '../proxy/load.ts';
import { TOOL } from '../proxy/messages.ts';
import type { Serving } from '../proxy/serving.ts';
import type { Place } from '../sections.ts';
import type { Report, Row } from '../table.ts';

const TOOLS = 1000;
const LISTS = { connections: 8, calls: 1500, warmUp: 300, rounds: 11, list: true };
const CALLS = { connections: 32, calls: 10_000, warmUp: 2000, rounds: 15 };

const FREE = 'without a lock';
/** The same program again: it shows which differences are noise. */
const CONTROL = 'without a lock, again';
const HELD = 'skep proxy with a lock';

export async function benchLock(place: Place): Promise<Report> {
  const tools = toolsOf(TOOLS);
  const list = JSON.stringify({ tools });
  const backend = await startModule<number>(new URL('../proxy/backend-process.ts', import.meta.url), list);
  const load = await startLoad();
  const started: Serving[] = [];
  async function start(name: string, lock: HeldLock | undefined) {
    const serving = await startLocked(place, String(started.length), backend.ready, lock);
    started.push(serving);
    return { name, serving, tokens: [''] };
  }
  try {
    const lock = heldLock('enforce', { server: { kind: 'MCPServer' }, tools });
    const contestants = [await start(FREE, undefined), await start(HELD, lock), await start(CONTROL, undefined)];
    const world = { load, backendPid: backend.pid };
    const lists = await costsOf(contestants, world, LISTS);
    const calls = await costsOf(contestants, world, CALLS);
    const size = `${Math.round(list.length / 1024)} KiB`;
    return {
      rows: [
        ...rowsOf(`tools/list, ${TOOLS} tools, ${size}: processor time`, lists),
        ...rowsOf(`tools/call, ${CALLS.connections} connections: processor time`, calls),
      ],
      notices: [],
    };
  } finally {
    await Promise.all(started.map((serving) => serving.stop()));
    await load.stop();
    await backend.stop();
  }
}

function rowsOf(name: string, costs: ReadonlyMap<string, readonly CallCost[]>): Row[] {
  const cpu = (of: string) => (costs.get(of) ?? []).map((cost) => cost.cpu);
  const row = { unit: 'µs', against: `the proxy ${FREE}` };
  return [
    { name, ours: median(cpu(HELD)), baseline: median(cpu(FREE)), ...row },
    {
      name: '... noise: the proxy without a lock, once more',
      ours: median(cpu(CONTROL)),
      baseline: median(cpu(FREE)),
      ...row,
    },
    { name: '... the least of all rounds', ours: Math.min(...cpu(HELD)), baseline: Math.min(...cpu(FREE)), ...row },
  ];
}

function toolsOf(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? TOOL : `tool_${index}`,
    description: `Tool ${index} reads what was asked for and returns it as a text, one line for each record.`,
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } } },
    annotations: { readOnlyHint: true },
  }));
}

async function startLocked(
  place: Place,
  name: string,
  backendPort: number,
  lock: HeldLock | undefined,
): Promise<Serving> {
  const path = join(place.folder, `${name}.json`);
  const config = formatRunConfig({
    ...plainConfig({ name, backendPort, port: await freePort() }),
    ...(lock === undefined ? {} : { tools_lock: lock }),
  });
  writeFileSync(path, config);
  return startConfigured(place, path, name);
}
