// Calls a tool repeatedly, and records the failed calls.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'vitest';
import { connect, echo } from './fleet.ts';

interface Calls {
  readonly answered: number;
  /** Texts of the failed calls, with the milliseconds since the start. */
  readonly failed: readonly string[];
  /** Texts of the failed calls that got a 404, after which the client began a new session. */
  readonly renewals: readonly string[];
}

const EVERY_MS = 200;

/** Calls a tool until the returned function is called. After a 404, begins a new session, as clients do. */
export async function startCalls(url: URL): Promise<() => Promise<Calls>> {
  const started = Date.now();
  const calls = { answered: 0, failed: [] as string[], renewals: [] as string[] };
  let stopped = false;
  let client = await connect(url);
  async function call(): Promise<void> {
    try {
      await echo(client, 'again');
      calls.answered += 1;
    } catch (error) {
      const failure = `${Date.now() - started} ms: ${String(error)}`;
      calls.failed.push(failure);
      if (!isUnknownSession(error)) return;
      client = await connect(url);
      calls.renewals.push(failure);
    }
  }
  async function callOn(): Promise<void> {
    while (!stopped) {
      await call();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await client.close();
  }
  const done = callOn();
  return async () => {
    stopped = true;
    await done;
    return calls;
  };
}

function isUnknownSession(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404;
}

const LONG_SECONDS = 8;

/** Makes long calls, one at a time, until the returned function is called. That function returns the errors. */
export function startLongCalls(client: Client): () => Promise<readonly string[]> {
  const failed: string[] = [];
  let stopped = false;
  async function callOn(): Promise<void> {
    while (!stopped) {
      const call = { name: 'trigger-long-running-operation', arguments: { duration: LONG_SECONDS, steps: 2 } };
      await client.callTool(call).catch((error: unknown) => failed.push(String(error)));
    }
    await client.close();
  }
  const done = callOn();
  return async () => {
    stopped = true;
    await done;
    return failed;
  };
}

/** Opens the stream of a new session. `ended` resolves when the stream has ended. */
export async function openStream(url: URL): Promise<{ readonly ended: Promise<void> }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (message: object, more = {}): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
  };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'stream', version: '1' } };
  const begun = await post({ id: 1, method: 'initialize', params });
  await begun.text();
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-06-18' };
  await (await post({ method: 'notifications/initialized' }, session)).text();
  const stream = await fetch(url, { headers: { accept: 'text/event-stream', ...session } });
  expect(stream.status).toBe(200);
  // A closed connection also counts as the end of the stream.
  const ended = stream.text().then(
    () => undefined,
    () => undefined,
  );
  return { ended };
}
