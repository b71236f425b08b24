// Tests a virtual server whose session store, configuration or backend fails at run time.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSessionStore } from '#adapters/redis/session-store.ts';
import { formatVmcpConfig, VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { watchMembers } from '#gateway/virtual-server/health/checks.ts';
import { createMemberHealth } from '#gateway/virtual-server/health/member-health.ts';
import type { Member } from '#gateway/virtual-server/members/member.ts';
import { createSessions } from '#gateway/virtual-server/sessions/sessions.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { Failure } from '#std/failure.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { SKEP } from '../../harness/mcp-modes.ts';
import { startProgram } from '../../harness/mcp-program.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { callFlow, workflow } from './workflow-world.ts';
import { configOf, connect, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const KEY = { [VMCP_ENV.sessionHmacSecret]: 'k'.repeat(32) };
const first: RedisServer | undefined = await startRedis();
const folder = temporaryFolder();
const closing: (() => Promise<unknown>)[] = [];
let wiki: TestMember;

beforeAll(async () => {
  wiki = await startMember({ name: 'wiki', tools: [tool('echo'), tool('secret')] });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await wiki.close();
  await first?.stop();
  folder.remove();
});

async function run(config: VmcpConfig, environment = {}): Promise<TestedVirtualServer> {
  const server = await runVirtual(config, environment);
  closing.push(server.stop);
  return server;
}

function initialize(url: string) {
  return postTo(url, { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } });
}

describe.skipIf(first === undefined)('an unreachable session store', () => {
  async function startStore() {
    const redis = await startRedis();
    if (redis === undefined) throw new Error('no Redis');
    closing.push(redis.stop);
    return redis;
  }

  it('prevents new sessions with a clear error; sessions that begin after its return continue', async () => {
    const redis = await startStore();
    const sessionStorage = { provider: 'redis', address: redis.address, db: 0, keyPrefix: 'p:' } as const;
    const server = await run(configOf({ wiki }, { sessionStorage }), KEY);
    const client = await connect(server);
    await client.ask('tools/call', { name: 'wiki_echo' });
    await redis.stop();
    const refused = await initialize(server.url);
    expect([refused.status, refused.headers.get('retry-after'), refused.json.error.message]).toEqual([
      502,
      '2',
      'the store of sessions cannot be reached',
    ]);
    await server.written('redis-unreachable');
    expect((await client.ask('tools/call', { name: 'wiki_echo' })).content[0].text).toContain('wiki');
    const again = await startRedis(Number(redis.address.split(':')[1]));
    closing.push(async () => again?.stop());
    await expect.poll(async () => (await initialize(server.url)).status).toBe(200);
    expect((await (await connect(server)).ask('tools/list')).tools).toHaveLength(2);
  });

  it('does not end sessions at the replica that knows them, and other replicas cannot serve them', async () => {
    const redis = await startStore();
    const settings = { address: redis.address, db: 0, prefix: 'p:', password: () => undefined, idleSeconds: 60 };
    const store = await openSessionStore(settings, () => undefined);
    closing.push(store.close);
    let later = 0;
    const clock = { ...proxyClock, monotonic: () => proxyClock.monotonic() + later };
    const parts = { clock, store, expired: () => undefined };
    const [one, other] = [createSessions(parts), createSessions(parts)];
    closing.push(one.stop, other.stop);
    const exchange = { method: 'POST', era: 'session', path: '/', headers: {}, caller: '' } as const;
    const begun = await one.begin({ revision: '2025-11-25', capabilities: {} }, exchange);
    await redis.stop();
    later = 3_600_000;
    expect(await one.find(begun.id)).toBe(begun);
    await expect(other.find(begun.id)).rejects.toThrow('Redis at');
  });
});

describe('a configuration that becomes invalid at run time', () => {
  const allow = (name: string): Partial<VmcpConfig> => ({
    incomingAuth: {
      type: 'anonymous',
      authz: { type: 'cedar', policies: [`permit(principal, action, resource == Tool::"${name}");`] },
    },
  });

  it('changes nothing while it cannot be read, and takes effect as soon as it can', async () => {
    const file = join(folder.path, 'config.yaml');
    writeFileSync(file, formatVmcpConfig(configOf({ wiki })));
    const program = startProgram([SKEP, 'vmcp', 'serve', '--config', file, '--port', '0']);
    closing.push(() => program.stop());
    const [, url = ''] = await program.printed(/serving (http:\S+)/);
    const client = await connect({ url });
    writeFileSync(file, 'name: [');
    await program.printed(/vmcp-config-invalid[^\n]*the last good configuration stays in use/);
    expect((await client.ask('tools/list')).tools).toHaveLength(2);
    writeFileSync(file, Buffer.from(`\uFEFF${formatVmcpConfig(configOf({ wiki }))}`, 'utf16le'));
    await program.printed(/UTF-16[^\n]*the last good configuration stays in use/);
    expect((await client.ask('tools/list')).tools).toHaveLength(2);
    writeFileSync(file, formatVmcpConfig(configOf({ wiki }, allow('wiki_echo'))));
    await program.printed(/configuration read again/);
    expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'wiki_echo' }]);
  });

  it.each<[string, Partial<VmcpConfig>]>([
    [
      'a credential',
      {
        outgoingAuth: {
          source: 'inline',
          backends: {
            wiki: { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValueEnv: 'ABSENT' } },
          },
        },
      },
    ],
    ['a policy', { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies: ['permit('] } } }],
  ])('changes nothing if %s is invalid', async (_what, broken) => {
    const server = await run(configOf({ wiki }, allow('wiki_echo')));
    const client = await connect(server);
    const next = configOf({ wiki, more: wiki }, { ...allow('wiki_secret'), ...broken });
    expect(() => server.replace(next)).toThrow(Failure);
    expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'wiki_echo' }]);
    expect((await client.ask('tools/call', { name: 'wiki_secret' })).error).toBeDefined();
    expect((await client.ask('tools/call', { name: 'wiki_echo' })).content).toBeDefined();
  });
});

describe('a backend that responds slowly', () => {
  it.each([
    [4_000, 'healthy', ''],
    [6_000, 'degraded', 'it answers slowly'],
  ])('in %i ms is %s', async (tookMs, state, message) => {
    let now = 0;
    const clock = { now: () => now, monotonic: () => now, after: () => () => undefined };
    const health = createMemberHealth({ unhealthyThreshold: 3 }, clock, () => undefined);
    const member = { name: 'wiki', perCaller: false, health } as Member;
    const checks = watchMembers({
      members: { all: () => [member], find: () => member },
      catalogue: {
        async check() {
          now += tookMs;
          return { until: 0 };
        },
      },
      times: () => ({ intervalMs: 30_000, timeoutMs: 10_000 }),
      clock,
    });
    await expect.poll(() => health.report()).toMatchObject({ state, message });
    checks.stop();
  });
});

describe('a workflow that refers to itself', () => {
  it('cannot call workflows, because its steps can use only tools of backends', async () => {
    const own = workflow([{ id: 'again', tool: 'flow', arguments: {} }]);
    const other = workflow([{ id: 'over', tool: 'flow', arguments: {} }], { name: 'other' });
    const server = await run(configOf({ wiki }, { compositeTools: [own, other] }));
    const client = await connect(server);
    for (const name of ['flow', 'other']) {
      const { isError, text } = await callFlow(client, {}, name);
      expect([isError, text]).toEqual([true, expect.stringContaining('no backend has the tool flow')]);
    }
  });
});
