// `skep vmcp serve` before ten servers while sessions come and go: each lists, calls, listens and ends.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { percentile } from '../bench/paced.ts';
import { startModule } from '../bench/processes.ts';
import { openSession, post } from '../bench/vmcp/client.ts';
import type { Watched } from './assess.ts';
import type { Complaints } from './complaints.ts';
import type { SessionOptions } from './session.ts';
import { repeat, watchProcesses } from './watch.ts';
import { startWatched } from './watched-process.ts';

export interface VirtualSoaked {
  readonly watched: readonly Watched[];
  readonly facts: readonly string[];
}

const SESSIONS_PER_SECOND = 20;
/** On a machine that is busy the others wait: this is no test of what happens beyond what it can do. */
const AT_ONCE_MAX = 50;
const MEMBERS = { count: 10, tools: 20, delayMs: 0 };

export async function soakVirtual(options: Omit<SessionOptions, 'seed'>): Promise<VirtualSoaked> {
  const { folder, program, complaints, minutes, say } = options;
  const members = await startModule<readonly number[]>(
    new URL('../bench/vmcp/members-process.ts', import.meta.url),
    MEMBERS,
  );
  const file = join(folder, 'config.yaml');
  const backends = members.ready.map((port, index) => {
    return { name: `m${index}`, url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' };
  });
  writeFileSync(file, JSON.stringify({ name: 'soak', backends, incomingAuth: { type: 'anonymous' } }));
  const args = ['vmcp', 'serve', '--config', file, '--port', '0', '--log-level', 'error'];
  const expected = () => false;
  const vmcp = startWatched({
    ...{ name: 'vmcp', program, args, logFile: join(folder, 'vmcp.log'), complaints, expected },
  });
  const durationMs = minutes * 60_000;
  try {
    const port = Number(new URL(await vmcp.after('serving ')).port);
    const endAt = performance.now() + durationMs;
    const ended = () => performance.now() >= endAt;
    const [watched, facts] = await Promise.all([
      watchProcesses({
        ...{ ended, durationMs, snapshots: options.snapshots ? folder : undefined, say },
        ...{ processes: [vmcp], others: [], sampled: () => Promise.resolve() },
      }),
      visitUntil(ended, port, complaints),
    ]);
    return { watched, facts };
  } finally {
    await vmcp.stop();
    await members.stop();
  }
}

/** At a steady beat, while no more than so many are under way. */
async function visitUntil(ended: () => boolean, port: number, complaints: Complaints): Promise<readonly string[]> {
  const times: number[] = [];
  const visits = new Set<Promise<void>>();
  await repeat(ended, 1000 / SESSIONS_PER_SECOND, async (number) => {
    while (visits.size >= AT_ONCE_MAX) await Promise.race(visits);
    const began = performance.now();
    const visit = visitOnce(port, number)
      .then(() => void times.push(performance.now() - began))
      .catch((error: unknown) => complaints.add('sessions', String(error)))
      .finally(() => visits.delete(visit));
    visits.add(visit);
  });
  await Promise.all(visits);
  const ascending = times.toSorted((a, b) => a - b);
  return [
    `${times.length} sessions; p99 of one, from initialize to DELETE: ${percentile(ascending, 0.99).toFixed(0)} ms`,
  ];
}

async function visitOnce(port: number, number: number): Promise<void> {
  const session = await openSession(port);
  const url = `http://127.0.0.1:${port}/mcp`;
  const gone = new AbortController();
  const listening = await fetch(url, { headers: { ...session, accept: 'text/event-stream' }, signal: gone.signal });
  if (listening.status !== 200) throw new Error(`GET was answered with ${listening.status}`);
  await ask(port, session, 'tools/list', {});
  for (let count = 0; count < 2; count += 1) {
    const name = `m${(number + count) % MEMBERS.count}_create_invoice_0`;
    await ask(port, session, 'tools/call', { name, arguments: { id: String(number) } });
  }
  gone.abort();
  const ended = await fetch(url, { method: 'DELETE', headers: session });
  if (ended.status !== 204) throw new Error(`DELETE was answered with ${ended.status}`);
}

async function ask(port: number, session: Readonly<Record<string, string>>, method: string, params: object) {
  const response = await post(port, session, { method, params });
  const text = await response.text();
  if (response.status !== 200 || !text.includes('"result"')) throw new Error(`${method}: ${response.status} ${text}`);
}
