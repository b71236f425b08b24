// Tasks of 2025-11-25 of a server that no one here wrote, by an official client, through a proxy with policies: the task ends with
// its result, also if it asks its user in between.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startEverything } from '../../harness/mcp-servers.ts';
import { type AttackedProxy, proxyBefore, stopAll } from './rig.ts';

const TOOL = 'simulate-research-query';

let folder: string;
let everything: RunningServer;
let proxy: AttackedProxy;
let client: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skep-tasks-official-'));
  const path = join(folder, 'authz.json');
  const policies = [`permit(principal, action == Action::"call_tool", resource == Tool::"${TOOL}");`];
  await writeFile(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  everything = await startEverything({ transport: 'http', eras: 'session' });
  proxy = await proxyBefore(Number(everything.backend.url.port), { authz_config_path: path });
  client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {}, tasks: TASKS } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { interpretation: 'technical' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(proxy.url)));
  // The client makes tasks of the tools of which it has read that they do.
  await client.listTools();
});
afterAll(async () => {
  await client.close();
  await stopAll();
  await everything.stop();
  await rm(folder, { recursive: true });
});

const TASKS = { requests: { elicitation: { create: {} } } };

it.each([false, true])('a task ends with its result; it asks its user: %s', async (ambiguous) => {
  const args = { topic: 'bees', ambiguous };
  const seen: string[] = [];
  let text = '';
  for await (const message of client.experimental.tasks.callToolStream({ name: TOOL, arguments: args })) {
    seen.push(message.type);
    if (message.type === 'taskCreated') expect(message.task.taskId).toMatch(/^[\w-]{100,}$/);
    if (message.type === 'error') throw message.error;
    if (message.type === 'result') text = JSON.stringify(message.result.content);
  }
  expect([seen[0], seen.at(-1)]).toEqual(['taskCreated', 'result']);
  expect(text).toContain('bees');
});
