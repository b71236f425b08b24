// For random servers and locks: no client, in any era and on any way, sees or calls a tool that differs from its lock, and each
// client sees and calls every tool that agrees.

import { afterAll, describe, expect, it } from 'vitest';
import { type HeldLock, heldLock } from '#contracts/tool-lock/held.ts';
import type { JsonObject } from '#std/json.ts';
import { type Random, seeded } from '../../harness/random.ts';
import { proxyBefore, stopAll } from '../proxy/rig.ts';
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
  readonly offered: readonly JsonObject[];
  readonly lock: HeldLock;
  /** Names of tools that agree. */
  readonly agreeing: readonly string[];
  /** Every name that the server or the lock has, and some that neither has. */
  readonly names: readonly string[];
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

/** The same value in other words. */
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
  return {
    offered: all,
    lock: heldLock('enforce', { server: { kind: 'MCPServerEntry' }, tools: reviewed }),
    agreeing: all.map(({ name }) => String(name)).filter((name) => agrees.has(name)),
    names: [...new Set([...reviewed, ...all].map(({ name }) => String(name))), 'toolX'],
  };
}

async function serverOf({ offered }: Case, options: MemberOptions = {}): Promise<TestMember> {
  const member = await startMember({ tools: offered, ...options });
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

/** Asks one client for everything that it can see and call. */
async function check(
  { agreeing, names }: Case,
  member: TestMember,
  client: Pick<Client, 'ask'>,
  shown: (name: string) => string,
): Promise<void> {
  const { tools } = await client.ask('tools/list');
  expect(tools.map((each: { name: string }) => each.name).toSorted()).toEqual(agreeing.map(shown).toSorted());
  for (const name of names) {
    const before = member.calls('tools/call').length;
    await client.ask('tools/call', { name: shown(name), arguments: {} });
    const calls = member
      .calls('tools/call')
      .slice(before)
      .map(({ message }) => message.params.name);
    expect([name, calls]).toEqual([name, agreeing.includes(name) ? [name] : []]);
  }
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

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);
const asItIs = (name: string): string => name;
const prefixed = (name: string): string => `entry_${name}`;

describe.each(SEEDS)('random servers and locks: %i', (seed) => {
  const each = randomCase(seeded(seed));

  it('a proxy, for clients of both eras', async () => {
    const member = await serverOf(each);
    const { url } = await proxyBefore(member.port, { tools_lock: each.lock });
    await check(each, member, await connect({ url }), asItIs);
    await check(each, member, stateless({ url }), asItIs);
  });

  it('a virtual server that calls the server itself, for clients of both eras', async () => {
    const member = await serverOf(each);
    const server = await virtualOver(member.url, each.lock);
    await check(each, member, await connect(server), prefixed);
    await check(each, member, stateless(server), prefixed);
  });

  it('a virtual server before the proxy', async () => {
    const member = await serverOf(each);
    const { url } = await proxyBefore(member.port, { tools_lock: each.lock });
    await check(each, member, await connect(await virtualOver(url, undefined)), prefixed);
  });

  it('find_tool and call_tool', async () => {
    const member = await serverOf(each);
    const server = await virtualOver(member.url, each.lock, { optimizer: OPTIMIZER });
    const client = await connect(server);
    const found = JSON.stringify(
      await client.ask('tools/call', { name: 'find_tool', arguments: { tool_description: 'tool new', limit: 50 } }),
    );
    for (const name of each.names) {
      const before = member.calls('tools/call').length;
      await client.ask('tools/call', { name: 'call_tool', arguments: { tool_name: prefixed(name), parameters: {} } });
      const isAgreeing = each.agreeing.includes(name);
      expect([name, member.calls('tools/call').length - before]).toEqual([name, isAgreeing ? 1 : 0]);
      if (!isAgreeing) expect(found).not.toContain(`"${prefixed(name)}"`);
    }
  });
});

it('a workflow calls what agrees, and nothing else', async () => {
  const tools = ['good', 'bad'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
  const lock = heldLock('enforce', { server: { kind: 'MCPServerEntry' }, tools });
  const member = await startMember({
    tools: tools.map((tool) => (tool.name === 'bad' ? { ...tool, title: 'Other' } : tool)),
  });
  closing.push(() => member.close());
  const flow = (name: string) =>
    workflow([{ id: 'one', type: 'tool', tool: `entry.${name}` }], { name: `flow_${name}` });
  const server = await virtualOver(member.url, lock, { compositeTools: [flow('good'), flow('bad')] });
  const client = await connect(server);
  await client.ask('tools/call', { name: 'flow_good', arguments: {} });
  await client.ask('tools/call', { name: 'flow_bad', arguments: {} });
  // Requests of the virtual server's own count, too.
  const calls = member.asked.filter(({ message }) => message?.method === 'tools/call');
  expect(calls.map(({ message }) => message.params.name)).toEqual(['good']);
});
