// Tests unreachable and silent backends with both values of partialFailureMode: `fail` requires every backend for
// lists, `best_effort` does not.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import { openLock } from '#gateway/gate/tools-lock/lock.ts';
import { createCatalogue } from '#gateway/virtual-server/catalogue/catalogue.ts';
import { aggregationRules } from '#gateway/virtual-server/settings.ts';
import { askingOf } from '#gateway/virtual-server/world.ts';
import { createSessionSeal } from '#gateway/wire/seal.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { openMembers } from '#hosts/virtual-server/members.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { get } from '../proxy/world.ts';
import { type MemberOptions, startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

/** Timeout that is long enough for a responding backend on a busy machine. */
const LIMIT_MS = 2000;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let good: TestMember;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  good = await startMember({ name: 'good', tools: [tool('echo')] });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => good.close());

async function start(options: MemberOptions): Promise<TestMember> {
  const member = await startMember(options);
  closing.push(member.close);
  return member;
}

type FailureHandling = Partial<VmcpConfig['operational']['failureHandling']>;

/** Returns settings with short timeouts for backends. */
function impatient(more: FailureHandling = {}): Pick<VmcpConfig, 'operational'> {
  const often = { healthCheckInterval: '50ms', healthCheckTimeout: `${LIMIT_MS}ms`, unhealthyThreshold: 2 };
  const { failureHandling } = operational({ ...often, ...more }).operational;
  return { operational: { ...operational({}).operational, failureHandling, timeouts: { default: `${LIMIT_MS}ms` } } };
}

async function run(backends: Record<string, TestMember>, more: FailureHandling = {}): Promise<TestedVirtualServer> {
  const server = await runVirtual(configOf(backends, impatient(more)));
  closing.push(server.stop);
  return server;
}

function initialize(url: string) {
  return postTo(url, { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } });
}

function summary({ origin }: TestedVirtualServer): Promise<unknown> {
  return get(`${origin}/api/backends/health`).then(({ json }) => json.summary);
}

describe('a backend that never responds to tools/list', () => {
  it('leads to an error after its timeout, with its name and a remedy', async () => {
    const hangs = await start({ name: 'hangs', tools: [tool('a')] });
    hangs.silence('tools/list');
    const refused = await initialize((await run({ hangs })).url);
    expect(refused.status).toBe(504);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.json.error.message).toBe(
      'the backend hangs is not available: the MCP server did not answer in time. With partialFailureMode fail lists need every backend: try again in 5 s, or repair it, remove it or set best_effort',
    );
  });

  it('becomes unhealthy, and calls of other backends pass', async () => {
    const hangs = await start({ name: 'hangs', tools: [tool('a')] });
    hangs.silence('tools/list');
    const server = await run({ good, hangs });
    await expect.poll(() => summary(server)).toMatchObject({ total: 2, healthy: 1, unhealthy: 1 });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'good_echo' };
    const params = { name: 'good_echo', arguments: {}, _meta: META };
    const call = () => postTo(server.url, { id: 1, method: 'tools/call', params }, headers);
    await expect.poll(async () => (await call()).text).toMatch(/good.*echo/);
  });

  it('is listed after it responds', async () => {
    const hangs = await start({ name: 'hangs', tools: [tool('a')] });
    hangs.silence('tools/list');
    const server = await run({ good, hangs });
    await expect.poll(() => summary(server)).toMatchObject({ unhealthy: 1 });
    hangs.silence();
    await expect.poll(async () => (await initialize(server.url)).status).toBe(200);
    const client = await connect(server);
    const listed = async () => (await client.ask('tools/list')).tools;
    await expect.poll(listed).toMatchObject([{ name: 'good_echo' }, { name: 'hangs_a' }]);
  });

  it('is left out if lists do not need every backend', async () => {
    const hangs = await start({ name: 'hangs', tools: [tool('a')] });
    hangs.silence('tools/list');
    const client = await connect(await run({ good, hangs }, { partialFailureMode: 'best_effort' }));
    const listed = async () => (await client.ask('tools/list')).tools;
    await expect.poll(listed).toMatchObject([{ name: 'good_echo' }]);
  });
});

it('a backend with endless pages has only the time of one response', async () => {
  const endless = await start({ name: 'endless', tools: [tool('a')], endless: true, slowMs: LIMIT_MS / 5 });
  const refused = await initialize((await run({ endless })).url);
  expect([refused.status, refused.json.error.message]).toEqual([504, expect.stringContaining('the backend endless')]);
});

describe('the tools of a backend that fails', () => {
  const HOUR_MS = 3_600_000;
  const ANYBODY: Exchange = { method: 'POST', era: 'stateless', path: '/', headers: {}, caller: '' };

  it.each([
    ['stay until it is unhealthy', 'fail', ['gone_a', 'good_echo']],
    ['go after a while', 'best_effort', ['good_echo']],
  ] as const)('%s with %s', async (_name, mode, expected) => {
    const gone = await start({ name: 'gone', tools: [tool('a')] });
    const config = configOf({ good, gone });
    let later = 0;
    const clock = { ...proxyClock, monotonic: () => proxyClock.monotonic() + later };
    const upstream = createUpstream({ connectTimeoutMs: 1000 });
    closing.push(() => Promise.resolve(upstream.close()));
    const members = openMembers(config, {
      upstream,
      openTrusting: () => upstream,
      seal: createSessionSeal({ keys: [Buffer.alloc(32)], random: proxyClock.random }),
      observer: { dropped: () => undefined, log: () => undefined },
      replica: 'one',
      credentials: {
        fetch: () => Promise.reject(new Error('nothing is fetched')),
        clock,
        environment: {},
        secretFiles: createWatchedFiles(),
        notify: () => undefined,
      },
      locks: { open: openLock, use: () => undefined },
      messageBytes: 1_000_000,
      changed: () => undefined,
    });
    closing.push(() => Promise.all(members.all().map(({ backend }) => backend.close(0))));
    const catalogue = createCatalogue({
      members,
      clock,
      mode: () => mode,
      rules: () => aggregationRules(config),
      optimized: () => false,
      asking: (member, timeoutMs) => ({ ...askingOf({ clock, messageBytes: 1_000_000 }, member), timeoutMs }),
      observed: () => undefined,
      noticed: () => undefined,
      assembled: () => undefined,
    });
    closing.push(async () => catalogue.stop());
    const listed = async () => {
      const offered = await catalogue.offer(ANYBODY);
      return offered.ok ? offered.offer.lists.tools.items.map(({ key }) => key) : offered.fault.message;
    };
    expect(await listed()).toEqual(['gone_a', 'good_echo']);
    await gone.close();
    const [member] = members.all().filter(({ name }) => name === 'gone');
    if (member === undefined) throw new Error('no member');
    await catalogue.check(member, 1000);
    expect(await listed()).toEqual(['gone_a', 'good_echo']);
    later = HOUR_MS;
    await catalogue.check(member, 1000);
    expect(await listed()).toEqual(expected);
  });
});
