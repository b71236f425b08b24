// An official client with a session, and the tool of server-everything that makes a task of 2025-11-25 and may ask its user in between.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const RESEARCH = 'simulate-research-query';

export interface Researched {
  /** Types of the messages of the task, in their order. */
  readonly seen: readonly string[];
  readonly taskId: string;
  /** JSON of the content. */
  readonly text: string;
}

export async function connectResearcher(url: string): Promise<Client> {
  const capabilities = { elicitation: {}, tasks: { requests: { elicitation: { create: {} } } } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { interpretation: 'technical' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  // The client makes tasks of the tools of which it has read that they do.
  await client.listTools();
  return client;
}

/** Throws the error that the task ends with. */
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
