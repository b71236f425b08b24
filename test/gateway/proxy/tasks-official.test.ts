// Tests tasks of 2025-11-25 with a public server and an official client, through a proxy with policies and through a
// virtual server. Some tasks ask the user.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startEverything } from '../../harness/mcp-servers.ts';
import { configOf, runVirtual } from '../virtual-server/world.ts';
import { connectResearcher, RESEARCH, research } from './research.ts';
import { proxyBefore, stopAll } from './rig.ts';

let folder: string;
let everything: RunningServer;
const stopping: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skep-tasks-official-'));
  everything = await startEverything({ transport: 'http', eras: 'session' });
});
afterAll(async () => {
  for (const stop of stopping.splice(0).reverse()) await stop();
  await stopAll();
  await everything.stop();
  await rm(folder, { recursive: true });
});

async function startProxy(): Promise<string> {
  const path = join(folder, 'authz.json');
  const policies = [`permit(principal, action == Action::"call_tool", resource == Tool::"${RESEARCH}");`];
  await writeFile(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  return (await proxyBefore(Number(everything.backend.url.port), { authz_config_path: path })).url;
}

async function startVirtual(): Promise<string> {
  const server = await runVirtual(configOf({ every: { url: everything.backend.url.href } }));
  stopping.push(server.stop);
  return server.url;
}

describe.each([
  ['a proxy with policies', startProxy, RESEARCH],
  ['a virtual server', startVirtual, `every_${RESEARCH}`],
])('%s', (_name, start, tool) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectResearcher(await start());
    stopping.push(() => client.close());
  });

  it.each([false, true])('completes a task; the task asks its user: %s', async (ambiguous) => {
    const { seen, taskId, text } = await research(client, tool, ambiguous);
    expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
    expect(taskId).toMatch(/^[\w-]{100,}$/);
    expect(text).toContain('bees');
  });
});
