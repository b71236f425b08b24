// Serves a sample server on standard input and output, with one message per line (MCP 2025-11-25, Transports, stdio).

import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { parseJson } from '#std/json.ts';
import type { Conversation } from './conversation.ts';

/** Resolves when the client has closed its end and all messages are handled. */
export async function serveStdio(conversation: Conversation, input: Readable, output: Writable): Promise<void> {
  const answers = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const answer = conversation
      .receive(parseJson(line), (message) => output.write(`${JSON.stringify(message)}\n`))
      .finally(() => answers.delete(answer));
    answers.add(answer);
  }
  await Promise.all(answers);
}
