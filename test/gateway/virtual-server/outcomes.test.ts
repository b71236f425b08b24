// Compares the table of outcomes in docs/vmcp.md with the code, and tests the effect of calls on the health of a
// backend.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { answeredAs, EFFECTS } from '#gateway/virtual-server/health/outcomes.ts';
import { get } from '../proxy/world.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

describe('the table of outcomes', () => {
  it('equals the table in docs/vmcp.md', () => {
    const lines = readFileSync('docs/vmcp.md', 'utf8').split('\n');
    const head = lines.indexOf('| outcome | check | initialize | call |');
    const rows = lines.slice(head + 2, lines.indexOf('', head)).map((line) => {
      const [, outcome = '', ...effects] = line.split('|').map((cell) => cell.trim());
      return [outcome.split('`')[1], ...effects.slice(0, 3)];
    });
    const { check, initialize, call } = EFFECTS;
    expect(rows).toEqual(
      Object.entries(check).map(([outcome, effect]) => {
        const key = outcome as keyof typeof check;
        return [outcome, effect, initialize[key], call[key]];
      }),
    );
  });

  it.each([
    [undefined, undefined, 'answer'],
    [undefined, 200, 'answer'],
    [undefined, 403, 'status-4xx'],
    [undefined, 429, 'status-4xx'],
    [undefined, 503, 'status-5xx'],
    [undefined, 504, 'timeout'],
    ['busy', undefined, 'busy'],
    ['unreachable', undefined, 'unreachable'],
    ['closed', 200, 'closed'],
    ['timeout', undefined, 'timeout'],
    ['answer-invalid', 502, 'status-5xx'],
    ['unauthorized', 401, 'status-4xx'],
    ['unauthorized', undefined, 'other'],
  ] as const)('a fault %s with status %s is %s', (reason, status, outcome) => {
    const fault = reason === undefined ? undefined : { reason, message: 'it failed' };
    expect(answeredAs(fault, status === undefined ? undefined : { status, headers: {} })).toBe(outcome);
  });
});

const HOW = {
  'status-4xx': 403,
  'status-5xx': 503,
  busy: 'busy',
  unreachable: 'gone',
  closed: 'closed',
  timeout: 504,
  other: 'unreadable',
} as const;

const ROWS = Object.entries(HOW).map(([outcome, how]) => ({ outcome: outcome as keyof typeof HOW, how }));

describe('calls', () => {
  const open: (TestMember | TestedVirtualServer)[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await ('stop' in each ? each.stop() : each.close());
  });

  async function start(failing: Parameters<typeof operational>[0]) {
    const member = await startMember({ tools: [tool('echo')] });
    open.push(member);
    const settings = operational({ unhealthyThreshold: 3, partialFailureMode: 'best_effort', ...failing });
    const server = await runVirtual(configOf({ member }, settings));
    open.push(server);
    const client = await connect(server);
    await client.ask('tools/call', { name: 'member_echo' });
    return {
      server,
      client,
      fail: (how: (typeof ROWS)[number]['how'], method: string) =>
        how === 'gone' ? member.close() : Promise.resolve(member.failCalls(how, method)),
      recover: () => member.failCalls(),
      health: async () => (await get(`${server.origin}/api/backends/health`)).json.backends[0],
    };
  }

  it.each(ROWS)('three calls that end with $outcome have the effect in the table', async ({ outcome, how }) => {
    const { client, fail, recover, health } = await start({ healthCheckInterval: '10m' });
    const call = () => client.ask('tools/call', { name: 'member_echo' });
    expect(await health()).toMatchObject({ status: 'healthy', consecutive_failures: 0 });
    await fail(how, 'tools/call');
    for (let at = 0; at < 3; at += 1) await call().catch(() => undefined);
    const failures = EFFECTS.call[outcome] === 'failure' ? 3 : 0;
    const status = failures === 0 ? 'healthy' : 'unhealthy';
    expect(await health()).toMatchObject({ status, consecutive_failures: failures });
    if (how === 'gone') return;
    recover();
    await call();
    expect(await health()).toMatchObject({ consecutive_failures: 0 });
  });

  it.each(ROWS)('three sessions whose initialize ends with $outcome have the effect in the table', async (row) => {
    const { server, fail, health } = await start({ healthCheckInterval: '10m' });
    await fail(row.how, 'initialize');
    for (let at = 0; at < 3; at += 1) {
      const other = await connect(server);
      await other.ask('tools/call', { name: 'member_echo' }).catch(() => undefined);
    }
    const failures = EFFECTS.initialize[row.outcome] === 'failure' ? 3 : 0;
    expect(await health()).toMatchObject({ consecutive_failures: failures });
  });

  it.each(ROWS)(
    'checks that end with $outcome count as failures, and make the backend unhealthy',
    async ({ outcome, how }) => {
      const { fail, health } = await start({ healthCheckInterval: '20ms' });
      await fail(how, 'tools/list');
      expect(EFFECTS.check[outcome]).toBe('failure');
      await expect.poll(async () => (await health()).status, { timeout: 20_000 }).toBe('unhealthy');
    },
  );

  it('three timeouts of one slow tool leave the backend healthy', async () => {
    const member = await startMember({ tools: [tool('echo'), tool('hang')] });
    open.push(member);
    const { operational: failing } = operational({ healthCheckInterval: '10m', unhealthyThreshold: 3 });
    const settings = { operational: { ...failing, timeouts: { default: '200ms', perWorkload: {} } } };
    const server = await runVirtual(configOf({ member }, settings));
    open.push(server);
    const client = await connect(server);
    for (let at = 0; at < 3; at += 1) {
      expect((await client.ask('tools/call', { name: 'member_hang' })).error?.message).toContain('in time');
    }
    const { backends } = (await get(`${server.origin}/api/backends/health`)).json;
    expect(backends[0]).toMatchObject({ status: 'healthy', consecutive_failures: 0 });
  });

  it('after a trial call without a clear outcome, the next call is the trial', async () => {
    const member = await startMember({ tools: [tool('echo')] });
    open.push(member);
    const circuitBreaker = { enabled: true, failureThreshold: 1, timeout: '2s' };
    const server = await runVirtual(configOf({ member }, operational({ healthCheckInterval: '10m', circuitBreaker })));
    open.push(server);
    const client = await connect(server);
    const call = () => client.ask('tools/call', { name: 'member_echo' });
    await call();
    member.failCalls(503);
    await call().catch(() => undefined);
    member.failCalls(403);
    await expect
      .poll(async () => JSON.stringify(await call().catch(String)), { timeout: 10_000 })
      .not.toContain('gets no requests');
    member.failCalls();
    expect((await call()).error).toBeUndefined();
  });
});
