// Starts a virtual server with workflows and two backends for tests.

import { fillDefaults } from '#contracts/file-form.ts';
import { CompositeTool } from '#contracts/virtual/composite-tool.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import type { CompositeToolConfig } from '#contracts/vmcp-config-tools.ts';
import { workflowFaults } from '#gateway/virtual-server/workflows/check.ts';
import type { Json } from '#std/json.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { type Client, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

export interface Members {
  readonly wiki: TestMember;
  readonly mail: TestMember;
  close(): Promise<void>;
}

/** Starts the backends. The tool `flaky` fails `failures` times for each `key`. The tool `hang` waits for the test. */
export async function startMembers(): Promise<Members> {
  const tries = new Map<unknown, number>();
  const structured = (value: object) => ({
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value,
  });
  const wiki = await startMember({
    name: 'wiki',
    tools: [
      tool('find'),
      tool('hidden'),
      tool('flaky'),
      tool('fail'),
      tool('hang'),
      tool('read', { annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false } }),
      tool('typed', {
        inputSchema: {
          type: 'object',
          properties: { n: { type: 'integer' }, list: { type: 'array' }, on: { type: 'boolean' } },
        },
      }),
    ],
    results: {
      find: (args) => structured({ title: `about ${String(args.q)}`, items: [1, 2, 3], n: 1_000_000 }),
      typed: (args) => structured({ args }),
      fail: () => ({ isError: true, content: [{ type: 'text', text: 'the disk is full' }] }),
      flaky({ failures = 0, key }) {
        const made = (tries.get(key) ?? 0) + 1;
        tries.set(key, made);
        if (made <= Number(failures)) return { isError: true, content: [{ type: 'text', text: `try ${made}` }] };
        return structured({ tries: made });
      },
    },
  });
  const mail = await startMember({ name: 'mail', tools: [tool('send'), tool('hang')] });
  return { wiki, mail, close: async () => void (await Promise.all([wiki.close(), mail.close()])) };
}

type Given = Readonly<Record<string, unknown>>;

/** Returns a workflow with its defaults. Throws if the workflow has an error. */
export function workflow(steps: readonly Given[], more: Given = {}): CompositeToolConfig {
  const given = { name: 'flow', description: 'a workflow', ...more, steps } as unknown as Json;
  const filled = [fillDefaults(CompositeTool, given)] as unknown as CompositeToolConfig[];
  const [broken] = workflowFaults(filled).filter(({ severity }) => severity === 'error');
  if (broken !== undefined) throw new Error(`${broken.pointer} ${broken.message}`);
  return filled[0] as CompositeToolConfig;
}

export async function serveWorkflows(
  { wiki, mail }: Members,
  compositeTools: readonly CompositeToolConfig[],
  settings: Partial<VmcpConfig> = {},
): Promise<TestedVirtualServer> {
  return runVirtual(configOf({ wiki, mail }, { compositeTools: [...compositeTools], ...settings }));
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what others read is looked at piece by piece
  readonly output: any;
}

export async function callFlow(client: Client, args: object = {}, name = 'flow'): Promise<Called> {
  return readCalled(await client.ask('tools/call', { name, arguments: args }));
}

// biome-ignore lint/suspicious/noExplicitAny: as above
export function readCalled(result: any): Called {
  if (result.content === undefined) return { isError: true, text: JSON.stringify(result), output: undefined };
  return { isError: result.isError === true, text: result.content[0]?.text ?? '', output: result.structuredContent };
}

/** Starts a virtual server with one workflow, calls the workflow once, and returns the result. */
export async function runOnce(members: Members, flow: CompositeToolConfig, args: object = {}): Promise<Called> {
  const server = await serveWorkflows(members, [flow]);
  try {
    return await callFlow(await connect(server, { elicitation: {} }), args);
  } finally {
    await server.stop();
  }
}
