// Calls the tool of server-everything that creates a task of 2025-11-25 and may ask the user, with an official client.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const RESEARCH = 'simulate-research-query';

export interface Researched {
  /** Types of the task's messages, in order. */
  readonly seen: readonly string[];
  readonly taskId: string;
  /** The content as JSON. */
  readonly text: string;
}

export async function connectResearcher(url: string): Promise<Client> {
  const capabilities = { elicitation: {}, tasks: { requests: { elicitation: { create: {} } } } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { interpretation: 'technical' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  // The client creates tasks only for tools whose list entry supports tasks.
  await client.listTools();
  return client;
}

/** Calls the tool. Throws the error with which the task ends. */
export async function research(client: Client, name: string, ambiguous: boolean): Promise<Researched> {
  const seen: string[] = [];
  let [taskId, text] = ['', ''];
  const args = { topic: 'bees', ambiguous };
  for await (const message of client.experimental.tasks.callToolStream({ name, arguments: args })) {
    seen.push(message.type);
    if (message.type === 'taskCreated') taskId = message.task.taskId;
    if (message.type === 'error') throw message.error;
    if (message.type === 'result') text = JSON.stringify(message.result.content);
  }
  return { seen, taskId, text };
}
