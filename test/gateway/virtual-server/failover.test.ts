// Tests three replicas of a virtual server with a real Redis and a hundred clients while replicas are killed: sessions
// continue, and no client gets data of another client.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatVmcpConfig, VMCP_ENV } from '#contracts/vmcp-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { startIssuer } from '../../harness/issuer.ts';
import { type Program, startProgram } from '../../harness/mcp-program.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { repoPath } from '../proxy/paths.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { clientWith, configOf, connect } from './world.ts';

const CLIENTS = 100;
const REPLICAS = 3;
const KILLS = Number(process.env.SKEP_COUNT ?? REPLICAS);
const CALLS_BETWEEN = 500;
const RESOURCE = 'https://office.example/mcp';

const redis: RedisServer | undefined = await startRedis();
const members: Record<string, TestMember> = {};
beforeAll(async () => {
  for (const name of ['wiki', 'notes']) members[name] = await startMember({ name, tools: [tool('echo')] });
});
afterAll(async () => {
  for (const each of Object.values(members)) await each.close();
  await redis?.stop();
});

interface Replica {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function startReplica(folder: string): Promise<Replica> {
  const [port, file] = [await freePort(), join(folder, 'config.yaml')];
  const args = ['vmcp', 'serve', '--config', file, '--host', '127.0.0.1', '--port', String(port)];
  let program: Program;
  async function start(): Promise<void> {
    program = startProgram([repoPath('src/skep.ts'), ...args], { [VMCP_ENV.sessionHmacSecret]: 'k'.repeat(32) });
    await program.printed(/serving (http:\S+)/);
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  }
  await start();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill: () => program.kill('SIGKILL'),
    start,
    stop: () => program.stop(),
  };
}

interface Person {
  readonly id: number;
  /** Headers with the person's token. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Tally {
  calls: number;
  retried: number;
  readonly failed: string[];
  readonly wrong: string[];
}

/** Calls a tool at a replica. Without a response, repeats the call once at the next replica. */
async function call(replicas: readonly Replica[], { id, headers }: Person, count: number, tally: Tally): Promise<void> {
  const member = count % 2 === 0 ? 'wiki' : 'notes';
  const params = { name: `${member}_echo`, arguments: { person: id, count } };
  const ask = async (turn: number) => {
    const { url = '' } = replicas[(id + turn) % REPLICAS] ?? {};
    return clientWith(url, headers).ask('tools/call', params);
  };
  tally.calls += 1;
  const answer = await ask(count).catch(() => {
    tally.retried += 1;
    return ask(count + 1).catch((error: unknown) => ({ error: String(error) }));
  });
  const text = answer.content?.[0]?.text;
  if (text === undefined) tally.failed.push(JSON.stringify(answer));
  else if (text !== JSON.stringify({ server: member, tool: 'echo', args: params.arguments })) tally.wrong.push(text);
}

/** Returns for each session at a backend the number of people whose calls used it. */
function peopleOfSessions(member: TestMember | undefined): readonly number[] {
  const people = new Map<string, Set<number>>();
  for (const { headers, message } of member?.calls('tools/call') ?? []) {
    const session = String(headers['mcp-session-id']);
    people.set(session, (people.get(session) ?? new Set()).add(message.params.arguments.person));
  }
  return [...people.values()].map(({ size }) => size);
}

it.skipIf(redis === undefined)(
  'while replicas are killed, calls of a hundred people succeed with one retry, and nobody gets data of other people',
  async () => {
    const issuer = await startIssuer();
    const folder = await mkdtemp(join(tmpdir(), 'skep-failover-'));
    const incomingAuth = {
      type: 'oidc',
      oidc: {
        ...{ issuer: issuer.url, audience: RESOURCE, resource: RESOURCE, scopes: [], insecureAllowHttp: true },
        ...{ jwksAllowPrivateIp: true, protectedResourceAllowPrivateIp: true },
      },
      authz: { type: 'none' },
    } as const;
    const sessionStorage = { provider: 'redis', address: redis?.address ?? '', db: 0, keyPrefix: 'f:' } as const;
    const config = configOf(members, { incomingAuth, sessionStorage });
    await writeFile(join(folder, 'config.yaml'), formatVmcpConfig(config));
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startReplica(folder)));
    const tally: Tally = { calls: 0, retried: 0, failed: [], wrong: [] };
    let stopped = false;
    const people = Array.from({ length: CLIENTS }, async (_, id) => {
      const claims = { iss: issuer.url, aud: RESOURCE, sub: `person-${id}`, exp: Math.floor(Date.now() / 1000) + 3600 };
      const authorization = `Bearer ${await issuer.sign(claims)}`;
      const { headers } = await connect(replicas[id % REPLICAS] ?? { url: '' }, {}, { authorization });
      for (let count = 0; !stopped; count += 1) await call(replicas, { id, headers }, count, tally);
    });
    const more = async () => {
      const until = tally.calls + CALLS_BETWEEN;
      await expect.poll(() => tally.calls).toBeGreaterThan(until);
    };
    await more();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await replicas[kill % REPLICAS]?.kill();
      await more();
      await replicas[kill % REPLICAS]?.start();
      await more();
    }
    stopped = true;
    await Promise.all(people);
    const { calls, retried, failed } = tally;
    process.stdout.write(`failover: ${calls} calls, ${retried} retried, ${failed.length} failed ${failed[0] ?? ''}\n`);
    expect(tally.wrong).toEqual([]);
    // One call in a thousand may fail.
    expect(tally.failed.slice(Math.floor(tally.calls / 1000))).toEqual([]);
    expect(tally.retried).toBeGreaterThan(0);
    for (const member of Object.values(members)) expect(new Set(peopleOfSessions(member))).toEqual(new Set([1]));
    await Promise.all(replicas.map((each) => each.stop()));
    await issuer.close();
    await rm(folder, { recursive: true });
  },
);
