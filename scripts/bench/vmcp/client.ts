// A client with a session that asks again and again, over kept connections, and what that costs the server.

import { ownCpuMs } from '../cpu.ts';
import { median } from '../measure.ts';

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const ROUNDS = 5;
/** What a request costs falls until V8 has compiled all that it passes; that takes some ten thousand of them. */
const WARM_UP = 12_000;
const AT_ONCE = 8;

export interface Asked {
  readonly port: number;
  readonly pid: number;
}

export interface Asking {
  readonly method: string;
  readonly params: object;
}

/** Throws where the answer is an error. */
export async function openSession(port: number): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const response = await post(port, {}, { method: 'initialize', params });
  const text = await response.text();
  const session = response.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${response.status} ${text}`);
  return { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
}

/** A session has no two requests of one id. */
let lastId = 0;

export function post(port: number, headers: Readonly<Record<string, string>>, asking: Asking): Promise<Response> {
  lastId += 1;
  const body = JSON.stringify({ jsonrpc: '2.0', id: lastId, ...asking });
  return fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers: { ...TYPES, ...headers }, body });
}

/** Microseconds of processor time of each server for one request: the median of rounds in which they take turns. */
export async function costsOf(
  servers: readonly Asked[],
  asking: (server: number, count: number) => Asking,
  calls: number,
  warmUp = WARM_UP,
): Promise<readonly number[]> {
  const sessions = await Promise.all(servers.map(({ port }) => openSession(port).catch(() => ({}))));
  const costs: number[][] = servers.map(() => []);
  async function ask(server: number, port: number, times: number): Promise<void> {
    for (let count = 0; count < times; count += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, each) =>
        post(port, sessions[server] ?? {}, asking(server, count + each)).then(assertResult),
      );
      await Promise.all(batch);
    }
  }
  for (const [index, { port }] of servers.entries()) await ask(index, port, warmUp);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { port, pid }] of servers.entries()) {
      const before = ownCpuMs(pid) ?? 0;
      await ask(index, port, calls);
      costs[index]?.push((((ownCpuMs(pid) ?? 0) - before) * 1000) / calls);
    }
  }
  return costs.map((each) => median(each));
}

async function assertResult(response: Response): Promise<void> {
  const text = await response.text();
  if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(text.slice(0, 500));
}
