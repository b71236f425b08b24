// Tests a member that sleeps behind a virtual server: neither checks of its health nor lists start it, calls do.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../harness/cluster.ts';
import { openSleepWorld, type SleepWorld } from '../proxy/sleep-world.ts';
import { callTool, get, send } from '../proxy/world.ts';
import { configOf, operational, runVirtual } from './world.ts';

let world: SleepWorld;
beforeAll(async () => {
  world = await openSleepWorld();
});
afterAll(() => world.stop());

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('a member falls asleep in spite of the checks of its health, and is started by a call of its tool alone', async () => {
  const sleeper = await world.start('member', 'stdio', { afterSeconds: 3 });
  // Before the member has answered, the virtual server may take it for one without sessions, and keep a session in its
  // name for minutes.
  await eventually(
    () => get(`${sleeper.proxy.origin}/readyz`),
    ({ status }) => status === 200,
  );
  const settings = operational({ healthCheckInterval: '1s', healthCheckTimeout: '1s' });
  const config = configOf({ member: { url: sleeper.proxy.url } }, settings);
  const backends = config.backends.map((backend) => ({ ...backend, sleeps: 'digest' }));
  const virtual = await runVirtual({ ...config, backends });
  try {
    await eventually(
      () => get(`${virtual.origin}/readyz`),
      ({ status }) => status === 200,
    );
    await sleeper.asleep();
    const begun = await send(virtual, 'initialize', INITIALIZE);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const listed = await send(virtual, 'tools/list', {}, session);
    expect(listed.text).toContain('member_whoami');
    expect([await sleeper.declared(), sleeper.starts().length]).toEqual([0, 1]);
    const called = await callTool(virtual, 'member_whoami', {}, session);
    expect(called.text).toContain(sleeper.starts()[1]);
    expect(sleeper.starts()).toHaveLength(2);
  } finally {
    await virtual.stop();
  }
});
