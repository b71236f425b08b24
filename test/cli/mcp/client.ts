// Official clients of `skep mcp`, of both eras, with an answer to its questions.

import { fileURLToPath } from 'node:url';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '#std/json.ts';

const EXECUTABLE = fileURLToPath(new URL('../../../src/skep.ts', import.meta.url));
const INFO = { name: 'questions', version: '1.0.0' };
/** Longer than a call takes on a busy machine. */
const TIMEOUT = { timeout: 120_000 };

type Reply = { action: 'accept'; content: { confirm: boolean } } | { action: 'decline' } | { action: 'cancel' };

export interface Asking {
  /** Questions to the user so far. */
  readonly asked: string[];
  readonly listed: () => Promise<readonly JsonObject[]>;
  /** The structured content, or the error. */
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<JsonObject>;
  readonly close: () => Promise<void>;
}

function answerOf({ isError, structuredContent, content }: Readonly<Record<string, unknown>>): JsonObject {
  if (isError !== true) return structuredContent as JsonObject;
  const [first] = content as { text: string }[];
  return JSON.parse(first?.text ?? '{}');
}

type Tool = { name: string; arguments: Record<string, unknown> };

/** Offers a client, and notes the questions in `asked`. */
function askingOf(
  asked: string[],
  client: { listTools(): Promise<{ tools: readonly object[] }>; close(): Promise<void> },
  callTool: (tool: Tool) => Promise<Readonly<Record<string, unknown>>>,
): Asking {
  return {
    asked,
    listed: async () => (await client.listTools()).tools as readonly JsonObject[],
    call: async (name, given = {}) => answerOf(await callTool({ name, arguments: given })),
    close: () => client.close(),
  };
}

function answerWith<T>(reply: () => T, asked: string[]) {
  return ({ params }: { params: { message: string } }): T => {
    asked.push(params.message);
    return reply();
  };
}

function startedIn(cwd: string, args: readonly string[]) {
  return { command: process.execPath, args: [EXECUTABLE, 'mcp', ...args], cwd };
}

/** If `reply` is undefined, the client has no elicitation. */
export async function askWithoutSessions(
  args: readonly string[],
  cwd: string,
  reply?: () => Reply | Promise<Reply>,
): Promise<Asking> {
  const asked: string[] = [];
  const client = new Client2(INFO, {
    capabilities: reply === undefined ? {} : { elicitation: { form: {} } },
    versionNegotiation: { mode: 'auto' },
  });
  if (reply !== undefined) client.setRequestHandler('elicitation/create', answerWith(reply, asked));
  await client.connect(new Stdio2(startedIn(cwd, args)));
  return askingOf(asked, client, (tool) => client.callTool(tool, TIMEOUT));
}

/** The same with the client of the revisions up to 2025-11-25. */
export async function askInSession(args: readonly string[], cwd: string, reply?: () => Reply): Promise<Asking> {
  const asked: string[] = [];
  const client = new Client1(INFO, { capabilities: reply === undefined ? {} : { elicitation: {} } });
  if (reply !== undefined) client.setRequestHandler(ElicitRequestSchema, answerWith(reply, asked));
  await client.connect(new Stdio1(startedIn(cwd, args)));
  return askingOf(asked, client, (tool) => client.callTool(tool, undefined, TIMEOUT));
}
