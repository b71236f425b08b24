// Tests backends that are added, removed or moved at run time, and that other backends are not affected.

import { afterEach, describe, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { get } from '../proxy/world.ts';
import { type MemberOptions, startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(options: MemberOptions): Promise<TestMember> {
  const member = await startMember(options);
  closing.push(member.close);
  return member;
}

/** Starts a backend that never responds to tools/list. */
async function startSilent(): Promise<TestMember> {
  const member = await start({ name: 'silent', tools: [tool('a')] });
  member.silence('tools/list');
  return member;
}

const HOUR: Partial<VmcpConfig['operational']['failureHandling']> = {
  ...{ healthCheckInterval: '2h', healthCheckTimeout: '1h', partialFailureMode: 'best_effort' },
};

async function run(backends: Record<string, TestMember>, handling = HOUR): Promise<TestedVirtualServer> {
  const server = await runVirtual(configOf(backends, operational(handling)));
  closing.push(server.stop);
  await expect.poll(() => ready(server)).toBe(200);
  return server;
}

async function ready({ origin }: TestedVirtualServer): Promise<number> {
  return (await get(`${origin}/readyz`)).status;
}

function summary({ origin }: TestedVirtualServer): Promise<unknown> {
  return get(`${origin}/api/backends/health`).then(({ json }) => json.summary);
}

describe('a new backend that does not respond', () => {
  it('leaves the server ready, and has an unknown health', async () => {
    const [good, silent] = [await start({ name: 'good', tools: [tool('echo')] }), await startSilent()];
    const server = await run({ good });
    server.replace(configOf({ good, silent }, operational(HOUR)));
    expect(await ready(server)).toBe(200);
    expect(await summary(server)).toMatchObject({ total: 2, healthy: 1, unknown: 1 });
  });

  it('does not delay calls and lists of other backends', async () => {
    const [good, silent] = [await start({ name: 'good', tools: [tool('echo')] }), await startSilent()];
    const server = await run({ good });
    const client = await connect(server);
    server.replace(configOf({ good, silent }, operational(HOUR)));
    expect((await client.ask('tools/call', { name: 'good_echo' })).content[0].text).toContain('good');
    expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'good_echo' }]);
  });

  it('does not delay calls if lists need every backend', async () => {
    const [good, silent] = [await start({ name: 'good', tools: [tool('echo')] }), await startSilent()];
    const server = await run({ good }, { ...HOUR, partialFailureMode: 'fail' });
    const client = await connect(server);
    server.replace(configOf({ good, silent }, operational({ ...HOUR, partialFailureMode: 'fail' })));
    expect((await client.ask('tools/call', { name: 'good_echo' })).content[0].text).toContain('good');
  });
});

describe('a backend that has moved', () => {
  it('is asked for its lists at its new URL at once', async () => {
    const old = await start({ name: 'old', tools: [tool('a')] });
    const server = await run({ desk: old });
    const client = await connect(server);
    expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'desk_a' }]);
    const stream = await client.open();
    const moved = await start({ name: 'moved', tools: [tool('b')] });
    server.replace(configOf({ desk: moved }, operational(HOUR)));
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect((await client.ask('tools/list')).tools).toMatchObject([{ name: 'desk_b' }]);
    stream.close();
  });

  it('is not listed with old tools if it did not respond at its old URL', async () => {
    const silent = await startSilent();
    const server = await runVirtual(configOf({ desk: silent }, operational(HOUR)));
    closing.push(server.stop);
    const moved = await start({ name: 'moved', tools: [tool('b')] });
    server.replace(configOf({ desk: moved }, operational(HOUR)));
    expect((await (await connect(server)).ask('tools/list')).tools).toMatchObject([{ name: 'desk_b' }]);
  });

  it('is checked at the new interval of the configuration', async () => {
    const [old, moved] = [await start({ tools: [tool('a')] }), await start({ tools: [tool('a')] })];
    const server = await run({ desk: old });
    const often = { healthCheckInterval: '20ms', healthCheckTimeout: '1h' };
    server.replace(configOf({ desk: moved }, operational(often)));
    const listed = () => moved.asked.filter(({ message }) => message?.method === 'tools/list').length;
    await expect.poll(listed).toBeGreaterThan(5);
  });
});
