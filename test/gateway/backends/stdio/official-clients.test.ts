// Tests public servers (server-everything, -memory, -filesystem) with the official clients over HTTP, as a shared
// process and as a process for each session.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import type { Backend } from '#gateway/backends/backend.ts';
import type { Processes } from '#gateway/backends/ports.ts';
import { createPerSessionStdio } from '#gateway/backends/stdio/per-session.ts';
import { createSharedStdio } from '#gateway/backends/stdio/shared.ts';
import { listenFor, type Shim } from './http-shim.ts';
import { clock, countingObserver, serverProgram, sessionProgram } from './world.ts';

const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Sharing = 'shared' | 'perSession';

async function serve(sharing: Sharing, processes: Processes): Promise<Shim> {
  const parts = { clock, observer: countingObserver(), replica: 'r1' };
  const clientInfo = { name: 'skep', version: '1' };
  const backend: Backend =
    sharing === 'shared'
      ? createSharedStdio({ ...parts, clientInfo, openStreams: processes.open })
      : createPerSessionStdio({ ...parts, processes, pods: 3 });
  const shim = await listenFor(backend);
  undo.push(
    () => shim.close(),
    () => backend.close(0),
  );
  return shim;
}

async function connect(shim: Shim, capabilities: object = {}, prepare?: (client: Client) => void): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  prepare?.(client);
  await client.connect(new StreamableHTTPClientTransport(shim.url));
  undo.push(() => client.close());
  return client;
}

const everything = (): Processes => sessionProgram(serverProgram('server-everything'), ['stdio']);

describe.each<Sharing>(['shared', 'perSession'])('%s', (sharing) => {
  test('serves tools, prompts, resources and completion of server-everything', async () => {
    const client = await connect(await serve(sharing, everything()));
    expect((await client.callTool({ name: 'echo', arguments: { message: 'hello' } })).content).toEqual([
      { type: 'text', text: 'Echo: hello' },
    ]);
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBeGreaterThan(0);
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: resources[0]?.uri ?? '' });
    expect(read.contents.length).toBe(1);
    const image = await client.callTool({ name: 'get-tiny-image', arguments: {} });
    expect(JSON.stringify(image.content)).toContain('image/png');
    await expect(client.callTool({ name: 'no such tool', arguments: {} })).resolves.toMatchObject({ isError: true });
  });

  test('passes the progress of a long call', async () => {
    const client = await connect(await serve(sharing, everything()));
    const steps: number[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } },
      undefined,
      {
        onprogress: ({ progress }) => steps.push(progress),
      },
    );
    expect(steps).toEqual([1, 2, 3, 4]);
  });

  test('serves the client of SDK version 2', async () => {
    const shim = await serve(sharing, everything());
    const client = new ClientV2({ name: 'test', version: '1' });
    await client.connect(new TransportV2(shim.url));
    undo.push(() => client.close());
    const answer = await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } });
    expect(JSON.stringify(answer.content)).toContain('5');
  });

  test('serves the graph of server-memory and the files of server-filesystem', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stdio-'));
    undo.push(() => rm(folder, { recursive: true }));
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') };
    const memory = await connect(await serve(sharing, sessionProgram(serverProgram('server-memory'), [], env)));
    const entities = [{ name: 'bee', entityType: 'insect', observations: ['makes honey'] }];
    await memory.callTool({ name: 'create_entities', arguments: { entities } });
    const graph = await memory.callTool({ name: 'read_graph', arguments: {} });
    expect(JSON.stringify(graph.content)).toContain('makes honey');
    const text = 'line\n'.repeat(100_000);
    await writeFile(join(folder, 'large.txt'), text);
    const files = await connect(await serve(sharing, sessionProgram(serverProgram('server-filesystem'), [folder])));
    const read = await files.callTool({ name: 'read_text_file', arguments: { path: join(folder, 'large.txt') } });
    expect(read.content).toEqual([{ type: 'text', text }]);
  });

  test('gives each of sixty parallel calls of three clients its own response', async () => {
    const shim = await serve(sharing, everything());
    const clients = await Promise.all([0, 1, 2].map(() => connect(shim)));
    const calls = clients.flatMap((client, who) =>
      Array.from({ length: 20 }, async (_, at) => {
        const answer = await client.callTool({ name: 'echo', arguments: { message: `${who}/${at}` } });
        expect(answer.content).toEqual([{ type: 'text', text: `Echo: ${who}/${at}` }]);
      }),
    );
    await Promise.all(calls);
  });

  test('passes updates of a subscribed resource', async () => {
    const client = await connect(await serve(sharing, everything()));
    const updated = new Promise<string>((resolve) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
    });
    const { resources } = await client.listResources();
    const uri = resources[0]?.uri ?? '';
    await client.subscribeResource({ uri });
    await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
    expect(await updated).toBe(uri);
  });

  test('continues the session after a cancelled call', async () => {
    const client = await connect(await serve(sharing, everything()));
    const abort = new AbortController();
    const name = 'trigger-long-running-operation';
    const long = client.callTool({ name, arguments: { duration: 60, steps: 600 } }, undefined, {
      signal: abort.signal,
      onprogress: () => abort.abort('enough'),
    });
    await expect(long).rejects.toThrow('enough');
    expect((await client.callTool({ name: 'echo', arguments: { message: 'on' } })).isError).toBeFalsy();
  });
});

describe('perSession alone', () => {
  test('carries sampling, elicitation, roots and logging to their client', async () => {
    const shim = await serve('perSession', everything());
    const logged: string[] = [];
    const client = await connect(shim, { sampling: {}, elicitation: {}, roots: {} }, (each) => {
      each.setRequestHandler(CreateMessageRequestSchema, async () => ({
        role: 'assistant' as const,
        model: 'none',
        content: { type: 'text' as const, text: 'a sampled text' },
      }));
      each.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' as const }));
      each.setRequestHandler(ListRootsRequestSchema, async () => ({
        roots: [{ uri: 'file:///honey', name: 'honey' }],
      }));
      each.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
        logged.push(params.level);
      });
    });
    const call = async (name: string, given = {}) =>
      JSON.stringify((await client.callTool({ name, arguments: given })).content);
    expect(await call('trigger-sampling-request', { prompt: 'x' })).toContain('a sampled text');
    expect(await call('trigger-elicitation-request')).toContain('declined');
    expect(await call('get-roots-list')).toContain('file:///honey');
    await client.setLoggingLevel('debug');
    expect(await call('toggle-simulated-logging')).toContain('logging');
  });
});
