// Runs stories by one client against one URL and writes down what happened: what the client got, and every message that the
// server sent it.

import { type Fields, fields, isFields } from '../conformance/fixture/json.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { STORIES } from './stories.ts';
import { type ClientKind, REPLIES, type Story, type StoryClient } from './story-client.ts';

export interface Transcript {
  /** What the client got, as the story reports it. */
  readonly outcome: unknown;
  /** Messages of the server, by kind and in the order of arrival within a kind: streams of their own have no common order. */
  readonly messages: Readonly<Record<string, readonly unknown[]>>;
}

export async function runStories(kind: ClientKind, url: string): Promise<ReadonlyMap<string, Transcript>> {
  const transcripts = new Map<string, Transcript>();
  for (const story of STORIES) transcripts.set(story.name, await runStory(story, kind, url));
  return transcripts;
}

export async function runStory(story: Story, kind: ClientKind, url: string): Promise<Transcript> {
  const connections: Promise<StoryClient>[] = [];
  const connect = (replies = REPLIES) => {
    const connection = kind.connect(url, replies);
    connections.push(connection);
    return connection;
  };
  const late = Promise.withResolvers<Fields>();
  const timer = setTimeout(() => late.reject(new Error('the story did not end')), PATIENCE_MS);
  const outcome = await Promise.race([story.run({ connect }), late.promise]).catch((error: unknown) => ({
    failed: String(error),
  }));
  clearTimeout(timer);
  const settled = await Promise.allSettled(connections);
  const clients = settled.flatMap((connection) => (connection.status === 'fulfilled' ? [connection.value] : []));
  const messages = clients.flatMap((client) => client.messages);
  await Promise.all(clients.map((client) => client.leave().catch(() => undefined)));
  return { outcome: normalise(outcome), messages: byKind(messages) };
}

function byKind(messages: readonly Fields[]): Readonly<Record<string, readonly unknown[]>> {
  const groups: Record<string, unknown[]> = {};
  for (const message of messages) {
    const { id: _id, jsonrpc: _jsonrpc, ...rest } = message;
    const kind = typeof message.method === 'string' ? message.method : 'error' in message ? 'error' : 'result';
    groups[kind] = [...(groups[kind] ?? []), normalise(rest)];
  }
  // Answers to requests that were open at the same time come in any order.
  for (const kind of ['result', 'error', 'sampling/createMessage']) groups[kind]?.sort(byText);
  return groups;
}

function byText(left: unknown, right: unknown): number {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)];
  return a < b ? -1 : Number(a > b);
}

/** Differ from run to run, and mean nothing. */
const RUN_SPECIFIC = new Set(['progressToken', 'requestState', 'io.modelcontextprotocol/subscriptionId']);

/** Long texts would hide what differs. */
const LONGEST = 2000;

function normalise(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.length} characters` : value;
  if (Array.isArray(value)) return value.map(normalise);
  if (!isFields(value)) return value;
  const entries = Object.entries(fields(value)).filter(([, held]) => held !== undefined);
  return Object.fromEntries(
    entries.map(([key, held]) => [key, RUN_SPECIFIC.has(key) ? `<${key}>` : normalise(held)]).toSorted(byText),
  );
}
