// Holds the table of outcomes in docs/vmcp.md against the code, and shows what calls do to the health of a member.

import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { answeredAs, EFFECTS } from '#gateway/virtual-server/health/outcomes.ts';
import { get } from '../proxy/world.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

describe('the table of outcomes', () => {
  it('is the same in docs/vmcp.md', () => {
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
    ['unreachable', undefined, 'unreachable'],
    ['closed', 200, 'closed'],
    ['timeout', undefined, 'timeout'],
    ['answer-invalid', 502, 'status-5xx'],
    ['unauthorized', 401, 'status-4xx'],
    ['unauthorized', undefined, 'other'],
  ] as const)('a fault %s with status %s is %s', (reason, status, outcome) => {
    expect(answeredAs(reason === undefined ? undefined : { reason, message: 'it failed' }, status)).toBe(outcome);
  });
});

describe('calls', () => {
  const open: (TestMember | TestedVirtualServer)[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await ('stop' in each ? each.stop() : each.close());
  });

  it.each([
    [503, 3],
    ['closed', 3],
    [403, 0],
    [504, 0],
  ] as const)('three that end with %s are %i failures in a row', async (how, failures) => {
    const member = await startMember({ tools: [tool('echo')] });
    open.push(member);
    const times = { healthCheckInterval: '10m', unhealthyThreshold: 3 } as const;
    const server = await runVirtual(configOf({ member }, operational({ ...times, partialFailureMode: 'best_effort' })));
    open.push(server);
    const client = await connect(server);
    const call = () => client.ask('tools/call', { name: 'member_echo' });
    const health = async () => (await get(`${server.origin}/api/backends/health`)).json.backends[0];
    await call();
    expect(await health()).toMatchObject({ status: 'healthy', consecutive_failures: 0 });
    member.failCalls(how);
    for (let at = 0; at < 3; at += 1) await call().catch(() => undefined);
    const status = failures === 0 ? 'healthy' : 'unhealthy';
    expect(await health()).toMatchObject({ status, consecutive_failures: failures });
    member.failCalls();
    await call();
    expect(await health()).toMatchObject({ consecutive_failures: 0 });
  });

  it('three timeouts of one slow tool leave the member healthy', async () => {
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

  it('a call that finds out and shows nothing leaves it to the next call', async () => {
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
      .not.toContain('left alone');
    member.failCalls();
    expect((await call()).error).toBeUndefined();
  });
});
