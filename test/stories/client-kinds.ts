// The official clients that run the stories, and which of them can speak to a mode. Runs of the server itself are made once
// for each client.

import { type Mode, startMode } from '../harness/mcp-modes.ts';
import { CLIENT_V1, CLIENT_V1_SSE } from './client-v1.ts';
import { CLIENT_V2_SESSION, CLIENT_V2_SSE, CLIENT_V2_STATELESS } from './client-v2.ts';
import type { ClientKind } from './story-client.ts';
import { runStories, type Transcript } from './transcript.ts';

export const CLIENTS = [CLIENT_V1, CLIENT_V2_SESSION, CLIENT_V2_STATELESS, CLIENT_V1_SSE, CLIENT_V2_SSE];

/** By name of the story. */
export type Transcripts = ReadonlyMap<string, Transcript>;

export async function runMode(mode: Mode, kind: ClientKind): Promise<Transcripts> {
  const reached = await startMode(mode);
  try {
    return await runStories(kind, reached.url);
  } finally {
    await reached.stop();
  }
}

const direct = new Map<string, Promise<Transcripts>>();

/** What the client gets from the server itself. */
export function runDirect(kind: ClientKind): Promise<Transcripts> {
  const known = direct.get(kind.name) ?? runMode(directMode(kind), kind);
  direct.set(kind.name, known);
  return known;
}

function directMode({ front }: ClientKind): Mode {
  const transport = front === 'sse' ? 'sse' : 'http';
  return {
    name: 'direct',
    description: 'the server itself',
    server: { transport, eras: 'session,stateless' },
    front,
    revisions: [],
  };
}

export function clientsOf({ front, revisions }: Mode): readonly ClientKind[] {
  const eras = revisions.map((revision) => (revision === '2026-07-28' ? 'stateless' : 'session'));
  return CLIENTS.filter((kind) => kind.front === front && eras.includes(kind.era));
}
