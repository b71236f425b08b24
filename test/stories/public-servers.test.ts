// MCP servers that no one here wrote, through the modes of the proxy and without it: clients get the same. Real clients, real
// servers, loopback only.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fields } from '../conformance/fixture/json.ts';
import { MODES, type Mode, startMode } from '../harness/mcp-modes.ts';
import {
  filesystemServer,
  memoryServer,
  type ServerSettings,
  type StartServer,
  startEverything,
} from '../harness/mcp-servers.ts';
import { CLIENT_V1, stdioClient } from './client-v1.ts';
import { CLIENT_V2_SESSION } from './client-v2.ts';
import { EVERYTHING_STORY, filesystemStory, MEMORY_STORY } from './public-stories.ts';
import type { ClientKind, Story } from './story-client.ts';
import { runStory } from './transcript.ts';

const HTTP: ServerSettings = { transport: 'http', eras: 'session' };
const STDIO = MODES.filter(({ name }) => ['stdio-per-session', 'stdio-shared'].includes(name));

async function outcomeThrough(mode: Mode, start: StartServer, story: Story, kind: ClientKind): Promise<unknown> {
  const reached = await startMode(mode, start);
  try {
    return (await runStory(story, kind, reached.url)).outcome;
  } finally {
    await reached.stop();
  }
}

/** The official client starts the server itself. */
async function outcomeOverStdio(start: StartServer, story: Story): Promise<unknown> {
  const { backend } = await start({ transport: 'stdio', eras: 'session' });
  return (await runStory(story, stdioClient(backend), '')).outcome;
}

/** Clients of sessions, with a server that knows sessions. */
const WITH_EVERYTHING = MODES.filter(({ name }) =>
  ['streamable', 'stdio-per-session', 'stdio-shared', 'sse'].includes(name),
);
const PAIRS = [CLIENT_V1, CLIENT_V2_SESSION].flatMap((kind) =>
  WITH_EVERYTHING.map((mode) => ({ mode, kind, through: mode.name, by: kind.name })),
);

/** Needs capabilities of a client or keeps things for one, which a process for all of them cannot (see exceptions.ts). */
const OF_ONE_CLIENT = ['server', 'sampling', 'elicitation'];

function sharable(outcome: unknown): unknown {
  return Object.fromEntries(Object.entries(fields(outcome)).filter(([key]) => !OF_ONE_CLIENT.includes(key)));
}

it.each(PAIRS)('server-everything answers $by through $through as without a proxy', async ({ mode, kind }) => {
  const direct = await outcomeThrough(
    { ...mode, proxy: undefined, server: HTTP },
    startEverything,
    EVERYTHING_STORY,
    kind,
  );
  const outcome = await outcomeThrough(mode, startEverything, EVERYTHING_STORY, kind);
  expect(direct).not.toHaveProperty('failed');
  if (mode.name === 'stdio-shared') expect(sharable(outcome)).toEqual(sharable(direct));
  else expect(outcome).toEqual(direct);
});

it.each(STDIO)('server-filesystem answers through $name as without a proxy', async (mode) => {
  const outcomes = [];
  for (const through of [undefined, mode]) {
    // The folder's name is in what the server answers.
    const folder = join(tmpdir(), `filesystem-${process.pid}-${mode.name}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    const [start, story] = [filesystemServer(folder), filesystemStory(folder)];
    outcomes.push(
      await (through === undefined ? outcomeOverStdio(start, story) : outcomeThrough(through, start, story, CLIENT_V1)),
    );
    await rm(folder, { recursive: true });
  }
  expect(outcomes[0]).not.toHaveProperty('failed');
  expect(outcomes[1]).toEqual(outcomes[0]);
});

it.each(STDIO)('server-memory keeps what it learns through $name as without a proxy', async (mode) => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'));
  const start = memoryServer(join(folder, 'memory.jsonl'));
  const direct = await outcomeOverStdio(start, MEMORY_STORY);
  expect(direct).not.toHaveProperty('failed');
  expect(await outcomeThrough(mode, start, MEMORY_STORY, CLIENT_V1)).toEqual(direct);
  await rm(folder, { recursive: true });
});
