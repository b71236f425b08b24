// Tests own tools of a virtual server: their place in the list, and their calls of backend tools for a caller.

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Exchange } from '#gateway/backends/backend.ts';
import { createSessionBackend } from '#gateway/backends/sessions/sessions.ts';
import type { InnerCalls, InnerResult, OwnTools } from '#gateway/virtual-server/own-tools/ports.ts';
import { proxyClock } from '#hosts/proxy/clock.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

let wiki: TestMember;
const running: TestedVirtualServer[] = [];
/** Results of the calls that own tools have sent. */
const results: InnerResult[] = [];

beforeAll(async () => {
  wiki = await startMember({ name: 'wiki', tools: [tool('find'), tool('hidden')] });
});
afterEach(async () => {
  results.length = 0;
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => wiki.close());

/** Returns an own tool `ask` that calls the tool named in its argument. */
function ownTools(calls: InnerCalls): OwnTools {
  const backend = createSessionBackend({
    replica: 'own',
    clock: proxyClock,
    observer: { dropped: () => undefined, log: () => undefined },
    eras: () => new Set(['session'] as const),
    probe: async () => ({ available: true }),
    close: async () => undefined,
    open: async (_exchange, { message }) => ({
      send(bytes, exchange) {
        void serve(calls, JSON.parse(bytes.toString()), exchange, (answer) =>
          message(Buffer.from(JSON.stringify(answer))),
        );
        return true;
      },
      pause: () => undefined,
      resume: () => undefined,
      close: async () => undefined,
    }),
  });
  const definition = Buffer.from('{"name":"ask","inputSchema":{"type":"object"}}');
  return { backend, offer: () => [{ name: 'ask', definition }] };
}

async function serve(
  calls: InnerCalls,
  // biome-ignore lint/suspicious/noExplicitAny: what clients send
  { id, method, params }: any,
  cause: Exchange | undefined,
  send: (answer: object) => void,
): Promise<void> {
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'own', version: '1' },
    };
    send({ jsonrpc: '2.0', id, result });
  }
  if (method !== 'tools/call' || cause === undefined) return;
  const { tool: name, ...args } = params.arguments;
  const called = await calls.call({ cause, tool: name, arguments: args });
  results.push(called);
  send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: called.kind }] } });
}

async function run(settings: Partial<VmcpConfig> = {}) {
  const server = await runVirtual(configOf({ wiki }, settings), {}, ownTools);
  running.push(server);
  return server;
}

const HIDDEN = [{ workload: 'wiki', filter: ['find'], excludeAll: false }];

async function listed(server: TestedVirtualServer) {
  const { tools } = await (await connect(server)).ask('tools/list');
  return tools.map(({ name }: { name: string }) => name);
}

it('own tools are listed together with the tools of backends', async () => {
  expect(await listed(await run())).toEqual(['ask', 'wiki_find', 'wiki_hidden']);
});

it('own tools can call hidden tools in the session of their caller', async () => {
  const { aggregation } = configOf({ wiki });
  const server = await run({ aggregation: { ...aggregation, tools: HIDDEN } });
  const client = await connect(server);
  await client.ask('tools/call', { name: 'wiki_find', arguments: {} });
  const session = wiki.calls('tools/call').at(-1)?.headers['mcp-session-id'];
  for (const name of ['wiki_hidden', 'wiki.hidden']) {
    await client.ask('tools/call', { name: 'ask', arguments: { tool: name, a: 1 } });
    const made = wiki.asked.filter(({ message }) => message?.method === 'tools/call').at(-1);
    expect(made?.message.params).toMatchObject({ name: 'hidden', arguments: { a: 1 } });
    expect(made?.headers['mcp-session-id']).toBe(session);
    expect(made?.headers['skep-client-session']).toBeUndefined();
  }
  expect(results).toMatchObject([{ kind: 'result' }, { kind: 'result' }]);
});

it('a tool whose name now belongs to another tool is decided by its own hints', async () => {
  const hint = (destructiveHint: boolean) => ({ annotations: { destructiveHint } });
  const [first, second] = await Promise.all([
    startMember({ name: 'first', tools: [tool('clear', hint(false))] }),
    startMember({ name: 'second', tools: [tool('clear', hint(true)), tool('keep', hint(false))] }),
  ]);
  const policies = [
    'permit(principal, action, resource);',
    'forbid(principal, action == Action::"call_tool", resource) when { resource has destructiveHint && resource.destructiveHint };',
  ];
  const config = configOf(
    { first, second },
    { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } } },
  );
  const conflictResolutionConfig = { prefixFormat: '{workload}_', priorityOrder: ['first', 'second'] };
  const aggregation = { ...config.aggregation, conflictResolution: 'priority' as const, conflictResolutionConfig };
  const server = await runVirtual({ ...config, aggregation }, {}, ownTools);
  running.push(server);
  const client = await connect(server);
  for (const name of ['clear', 'first.clear', 'second.clear', 'second.keep'])
    await client.ask('tools/call', { name: 'ask', arguments: { tool: name } });
  expect(results.map(({ kind }) => kind)).toEqual(['result', 'result', 'denied', 'result']);
  await Promise.all([first.close(), second.close()]);
});

it('policies decide each inner call', async () => {
  const policies = [
    'permit(principal, action == Action::"call_tool", resource == Tool::"ask");',
    'permit(principal, action == Action::"call_tool", resource == Tool::"wiki_find");',
  ];
  const server = await run({ incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } } });
  const client = await connect(server);
  for (const name of ['wiki.find', 'wiki.hidden', 'wiki.gone'])
    await client.ask('tools/call', { name: 'ask', arguments: { tool: name } });
  expect(results.map(({ kind }) => kind)).toEqual(['result', 'denied', 'unknown']);
});
