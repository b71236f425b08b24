// Tests random servers and locks: an enforced lock admits exactly the tools that equal it, the mode report reports each
// difference once, and without a lock nothing is reported. In one file, because all tests share the random servers and
// their expected results.

import { afterAll, describe, expect, it } from 'vitest';
import { type HeldLock, heldLock, type LockMode } from '#contracts/tool-lock/held.ts';
import type { JsonObject } from '#std/json.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { type AttackedProxy, proxyBefore, stopAll } from '../proxy/rig.ts';
import { type MemberOptions, startMember, type TestMember } from './member.ts';
import { askStateless } from './stateless-client.ts';
import { workflow } from './workflow-world.ts';
import { type Client, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await stopAll();
});

interface Case {
  readonly mode: LockMode | 'off';
  readonly offered: readonly JsonObject[];
  /** undefined if the mode is off. */
  readonly lock: HeldLock | undefined;
  /** Names of tools that clients see. */
  readonly visible: readonly string[];
  /** All names in the server and the lock, and one unknown name. */
  readonly names: readonly string[];
  /** Names of offered tools that must be reported. */
  readonly reported: readonly string[];
  /** Settings for pages and streams of the server's tool list. */
  readonly sends: Pick<MemberOptions, 'pageSize' | 'streamsLists'>;
}

const WORDS = ['reads', 'a file', 'finds', 'notes', 'quickly', 'of the team', '\u{1f4c4}', 'na\u00efve'];

function randomTool(random: Random, name: string): JsonObject {
  const description = Array.from({ length: 1 + random.integer(6) }, () => random.pick(WORDS)).join(' ');
  const properties = Object.fromEntries(
    Array.from({ length: random.integer(4) }, (_, index) => [
      `p${index}`,
      { type: 'integer', maximum: random.integer(9) },
    ]),
  );
  return {
    name,
    description,
    ...(random.chance(0.5) ? { annotations: { readOnlyHint: random.chance(0.5) } } : {}),
    inputSchema: { type: 'object', properties },
  };
}

const CHANGES: readonly ((tool: JsonObject) => JsonObject)[] = [
  (tool) => ({ ...tool, description: `${tool.description} and sends it away` }),
  (tool) => ({ ...tool, description: `${tool.description}\u200b` }),
  (tool) => ({
    ...tool,
    description: `${String(tool.description).replace(/[ae]/, (letter) => (letter === 'a' ? '\u0430' : '\u0435'))}.`,
  }),
  (tool) => ({ ...tool, title: 'Other' }),
  (tool) => ({ ...tool, inputSchema: { type: 'object', properties: { to: { type: 'string' } } } }),
  (tool) => ({ ...tool, annotations: { destructiveHint: false } }),
  (tool) => ({ ...tool, _meta: { a: 1 } }),
];

/** Returns an equal value with another order of keys. */
function respelled(tool: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(tool).toReversed());
}

function randomCase(random: Random): Case {
  const reviewed = Array.from({ length: 2 + random.integer(6) }, (_, index) => randomTool(random, `tool${index}`));
  const kept = reviewed.filter(() => random.chance(0.85));
  const agrees = new Set(kept.filter(() => random.chance(0.6)).map(({ name }) => name));
  const offered = kept.map((tool) => {
    if (!agrees.has(tool.name)) return random.pick(CHANGES)(tool);
    return random.chance(0.5) ? respelled(tool) : tool;
  });
  const fresh = Array.from({ length: random.integer(3) }, (_, index) => randomTool(random, `new${index}`));
  const all = [...offered, ...fresh].toSorted(() => (random.chance(0.5) ? 1 : -1));
  const mode = random.pick(['enforce', 'report', 'off'] as const);
  const shown = all.map(({ name }) => String(name));
  return {
    mode,
    offered: all,
    lock: mode === 'off' ? undefined : heldLock(mode, { server: { kind: 'MCPServerEntry' }, tools: reviewed }),
    visible: mode === 'enforce' ? shown.filter((name) => agrees.has(name)) : shown,
    names: [...new Set([...reviewed.map(({ name }) => String(name)), ...shown]), 'toolX'],
    reported: mode === 'off' ? [] : shown.filter((name) => !agrees.has(name)),
    sends: {
      streamsLists: random.chance(0.4),
      ...(random.chance(0.5) ? { pageSize: 1 + random.integer(3) } : {}),
    },
  };
}

async function serverOf({ offered, sends }: Case): Promise<TestMember> {
  const member = await startMember({ tools: offered, ...sends });
  closing.push(() => member.close());
  return member;
}

async function virtualOver(
  url: string,
  lock: HeldLock | undefined,
  settings: Parameters<typeof configOf>[1] = {},
): Promise<TestedVirtualServer> {
  const config = configOf({ entry: { url } }, settings);
  const backends = config.backends.map((backend) => ({ ...backend, ...(lock && { toolsLock: lock }) }));
  const server = await runVirtual({ ...config, backends });
  closing.push(() => server.stop());
  return server;
}

interface Way {
  readonly client: Pick<Client, 'ask'>;
  /** Returns the name of the tool for clients. */
  readonly shown: (name: string) => string;
  /** Names of callable tools. */
  readonly callable: readonly string[];
}

/** Checks the listed and the callable tools of a client. */
async function check({ visible, names }: Case, member: TestMember, { client, shown, callable }: Way): Promise<void> {
  expect((await listedNames(client)).toSorted()).toEqual(visible.map(shown).toSorted());
  for (const name of names) {
    const calls = await callsDuring(member, () => client.ask('tools/call', { name: shown(name), arguments: {} }));
    expect([name, calls]).toEqual([name, callable.includes(name) ? [name] : []]);
  }
}

/** Returns the names on all pages of the list. */
async function listedNames(client: Pick<Client, 'ask'>): Promise<readonly string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined, page = 0; page < 20; page += 1) {
    const { tools, nextCursor } = await client.ask('tools/list', cursor === undefined ? {} : { cursor });
    found.push(...tools.map((each: { name: string }) => each.name));
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
  throw new Error('a list without an end');
}

/** Returns the names of the tools that the server was asked to call during `work`. */
async function callsDuring(member: TestMember, work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = member.asked.length;
  await work();
  const calls = member.asked.slice(before).filter(({ message }) => message?.method === 'tools/call');
  return calls.map(({ message }) => message.params.name);
}

/** Checks that each different tool is reported exactly once, and each missing tool at most once. */
function checkReports({ mode, names, offered, reported }: Case, found: readonly (readonly [string, string])[]): void {
  const lines = found.map(([name, what]) => `${name} ${what === 'missing' ? 'missing' : 'differs'}`);
  expect(lines.filter((line) => line.endsWith('differs')).toSorted()).toEqual(
    reported.map((name) => `${name} differs`).toSorted(),
  );
  const missing = lines.filter((line) => line.endsWith('missing'));
  expect(new Set(missing).size).toBe(missing.length);
  const absent = names.filter((name) => name !== 'toolX' && !offered.some((tool) => tool.name === name));
  const mayBe = mode === 'off' ? [] : absent.map((name) => `${name} missing`);
  expect(missing.filter((line) => !mayBe.includes(line))).toEqual([]);
}

const DRIFTED = 'definition-drifted';

function reportsOfProxy({ log }: AttackedProxy): readonly (readonly [string, string])[] {
  const lines = log
    .text()
    .split('\n')
    .filter((line) => line.includes(DRIFTED));
  return lines.map((line) => JSON.parse(line)).map(({ name, what }) => [name, what]);
}

interface Reported {
  readonly items?: readonly { readonly name: string; readonly why: string }[];
}

function reportsOfVirtual({ log }: TestedVirtualServer): readonly (readonly [string, string])[] {
  const lines: readonly Reported[] = log.filter(({ code }) => code === DRIFTED);
  return lines.flatMap(({ items = [] }) => items.map(({ name, why }) => [name, why] as const));
}

function stateless(server: { readonly url: string }): Pick<Client, 'ask'> {
  return {
    async ask(method, params = {}) {
      const name = 'name' in params ? String(params.name) : '';
      const answer = await askStateless(server, method, params, name);
      return answer.result ?? answer;
    },
  };
}

const OPTIMIZER = {
  maxToolsToReturn: 50,
  embeddingServiceTimeout: '30s',
  hybridSearchSemanticRatio: '0.5',
  semanticDistanceThreshold: '0.5',
};

const SEEDS = Array.from({ length: 18 }, (_, index) => index + 1);
const asItIs = (name: string): string => name;
const prefixed = (name: string): string => `entry_${name}`;

it('the seeds cover all modes, pages and streams', () => {
  const cases = SEEDS.map((seed) => randomCase(seeded(seed)));
  const count = (has: (each: Case) => boolean) => cases.filter(has).length;
  for (const mode of ['enforce', 'report', 'off']) expect(count((each) => each.mode === mode)).toBeGreaterThan(3);
  expect(count(({ sends }) => sends.streamsLists === true)).toBeGreaterThan(3);
  expect(count(({ sends }) => sends.pageSize !== undefined)).toBeGreaterThan(3);
});

it('a duplicate tool is neither listed nor called if one of its definitions differs, and is reported once', async () => {
  const [same, other] = [randomTool(seeded(1), 'read'), randomTool(seeded(2), 'find')];
  const lock = heldLock('enforce', { server: { kind: 'MCPServerEntry' }, tools: [same, other] });
  for (const twice of [
    [same, { ...same, title: 'Other' }],
    [{ ...same, title: 'Other' }, same],
  ]) {
    const member = await startMember({ tools: [...twice, other] });
    closing.push(() => member.close());
    const [proxy, server] = [await proxyBefore(member.port, { tools_lock: lock }), await virtualOver(member.url, lock)];
    for (const [way, name] of [
      [proxy, 'read'],
      [server, 'entry_read'],
    ] as const) {
      const client = await connect(way);
      const calls = await callsDuring(member, () => client.ask('tools/call', { name, arguments: {} }));
      expect(calls).toEqual([]);
    }
    expect(await listedNames(await connect(server))).toEqual(['entry_find']);
    expect(reportsOfProxy(proxy).map(([name]) => name)).toEqual(['read']);
    expect(reportsOfVirtual(server).map(([name]) => name)).toEqual(['read']);
  }
});

describe.each(SEEDS)('random servers, locks and modes: %i', (seed) => {
  const each = randomCase(seeded(seed));
  const { mode, lock, visible, names } = each;
  const settings = lock === undefined ? {} : { tools_lock: lock };

  it('are handled by a proxy for clients of both eras', async () => {
    const member = await serverOf(each);
    const proxy = await proxyBefore(member.port, settings);
    // If the lock is not enforced, a proxy forwards calls with unknown names to the server.
    const way = { shown: asItIs, callable: mode === 'enforce' ? visible : names };
    await check(each, member, { ...way, client: await connect(proxy) });
    await check(each, member, { ...way, client: stateless(proxy) });
    checkReports(each, reportsOfProxy(proxy));
  });

  it('are handled by a virtual server without a proxy, for clients of both eras', async () => {
    const member = await serverOf(each);
    const server = await virtualOver(member.url, lock);
    const way = { shown: prefixed, callable: visible };
    await check(each, member, { ...way, client: await connect(server) });
    await check(each, member, { ...way, client: stateless(server) });
    checkReports(each, reportsOfVirtual(server));
  });

  it('are handled by a virtual server with a proxy', async () => {
    const member = await serverOf(each);
    const proxy = await proxyBefore(member.port, settings);
    const server = await virtualOver(proxy.url, undefined);
    await check(each, member, { client: await connect(server), shown: prefixed, callable: visible });
    checkReports(each, reportsOfProxy(proxy));
    expect(reportsOfVirtual(server)).toEqual([]);
  });

  it('workflows', async () => {
    const member = await serverOf(each);
    const flows = names.map((name) =>
      workflow([{ id: 'one', type: 'tool', tool: `entry.${name}` }], { name: `flow_${name}` }),
    );
    const server = await virtualOver(member.url, lock, { compositeTools: flows });
    const client = await connect(server);
    for (const name of names) {
      const calls = await callsDuring(member, () => client.ask('tools/call', { name: `flow_${name}`, arguments: {} }));
      expect([name, calls]).toEqual([name, visible.includes(name) ? [name] : []]);
    }
    checkReports(each, reportsOfVirtual(server));
  });

  it('find_tool and call_tool', async () => {
    const member = await serverOf(each);
    const server = await virtualOver(member.url, lock, { optimizer: OPTIMIZER });
    const client = await connect(server);
    for (const name of names) {
      const query = { tool_description: prefixed(name), limit: 50 };
      const found = JSON.stringify(await client.ask('tools/call', { name: 'find_tool', arguments: query }));
      expect([name, found.includes(`"${prefixed(name)}"`)]).toEqual([name, visible.includes(name)]);
      const call = { tool_name: prefixed(name), parameters: {} };
      const calls = await callsDuring(member, () => client.ask('tools/call', { name: 'call_tool', arguments: call }));
      expect([name, calls]).toEqual([name, visible.includes(name) ? [name] : []]);
    }
    checkReports(each, reportsOfVirtual(server));
  });
});
