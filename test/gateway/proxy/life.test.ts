// Tests proxies that stop, are killed and restarted, or have two replicas: no response reaches the wrong client, and
// every call ends.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { formatRunConfig, type RunConfig } from '#contracts/run-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import { startIssuer } from '../../harness/issuer.ts';
import { type Program, startProgram } from '../../harness/mcp-program.ts';
import { repoPath } from './paths.ts';
import {
  answerPlainly,
  call,
  HEADERS,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  type Received,
  rawPost,
  startServer,
  statuses,
  stopAll,
} from './rig.ts';

afterAll(stopAll);

const RESOURCE = 'https://mcp.example/mcp';

function oidc(issuer: string): RunConfig['oidc_config'] {
  return {
    issuer,
    jwks_allow_private_ip: true,
    protected_resource_allow_private_ip: true,
    insecure_allow_http: true,
    resource_url: RESOURCE,
    scopes: [],
  };
}

async function startChild(settings: Partial<RunConfig>) {
  const directory = await mkdtemp(join(tmpdir(), 'skep-life-'));
  const port = await freePort();
  const config: RunConfig = {
    schema_version: 'v0.1.0',
    name: 'attacked',
    namespace: 'tests',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port,
    target_host: '127.0.0.1',
    trust_proxy_headers: false,
    audit_config: { enabled: false, component: 'attacked' },
    ...settings,
  };
  const file = join(directory, 'runconfig.json');
  await writeFile(file, formatRunConfig(config));
  const run = async (): Promise<Program> => {
    const program = startProgram([repoPath('src/skep.ts'), 'proxy', '--config', file]);
    await program.printed(/serving (http:\S+)/);
    return program;
  };
  return {
    run,
    port,
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/mcp`,
    remove: () => rm(directory, { recursive: true }),
  };
}

describe('a proxy that gets SIGTERM', () => {
  it('is not ready, ends streams, completes calls, and exits with 0 long before its grace period', async () => {
    const waiting: Received[] = [];
    const server = await startServer((received) => {
      if (received.body.includes('slow')) waiting.push(received);
      else answerPlainly(received);
    });
    const child = await startChild({ target_port: server.port, timeouts: { shutdown_seconds: 60 } });
    const program = await child.run();
    await expect.poll(async () => (await fetch(`${child.origin}/readyz`)).status).toBe(200);
    const stream = openRaw(child.port);
    stream.send('GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n');
    await stream.until(/event-stream/);
    const idle = openRaw(child.port);
    idle.send('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await idle.until(/HTTP\/1\.1 200/);
    const slow = openRaw(child.port);
    slow.send(rawPost(JSON.stringify(call('slow'))));
    await expect.poll(() => waiting.length).toBe(1);
    const ended = program.kill('SIGTERM');
    // The last chunk shows that the stream ended properly.
    await stream.until(/\r\n\r\n0\r\n\r\n$/);
    expect((await fetch(`${child.origin}/readyz`)).status).toBe(503);
    expect((await post(child.url, call('late'))).status).toBe(200);
    expect(statuses(slow.text())).toEqual([]);
    for (const received of waiting) answerPlainly(received);
    expect(await slow.closed).toContain('\\"slow\\"');
    await ended;
    expect(program.output()).not.toMatch(/^\s+at /m);
    expect(program.exitCode()).toBe(0);
    await child.remove();
  });

  it('exits with 0 after its grace period, even if a call still waits', async () => {
    const server = await startServer((received) =>
      received.body.includes('slow') ? undefined : answerPlainly(received),
    );
    const child = await startChild({ target_port: server.port, timeouts: { shutdown_seconds: 1 } });
    const program = await child.run();
    const slow = openRaw(child.port);
    slow.send(rawPost(JSON.stringify(call('slow'))));
    await server.next();
    await program.kill('SIGTERM');
    expect(await slow.closed).toBe('');
    expect(program.exitCode()).toBe(0);
    await child.remove();
  });

  it('waits for an incomplete request until the end of its grace period', async () => {
    const server = await startServer(answerPlainly);
    const child = await startChild({ target_port: server.port, timeouts: { shutdown_seconds: 1 } });
    const program = await child.run();
    const begun = openRaw(child.port);
    begun.send('POST /mcp HTTP/1.1\r\nHost: ');
    expect((await post(child.url, call('after it'))).status).toBe(200);
    await program.kill('SIGTERM');
    await begun.closed;
    expect(program.output()).not.toContain('Warning');
    expect(program.exitCode()).toBe(0);
    await child.remove();
  });
});

it('two replicas with equal keys serve one session in turn, and a replica without these keys does not', async () => {
  const server = await startServer();
  const directory = await mkdtemp(join(tmpdir(), 'skep-keys-'));
  const key = join(directory, 'key');
  await writeFile(key, 'k'.repeat(43));
  const settings = { session_key_files: [key] };
  const [one, two, other] = [
    await proxyBefore(server.port, settings),
    await proxyBefore(server.port, settings),
    await proxyBefore(server.port),
  ];
  const session = (await post(one.url, INITIALIZE)).headers.get('mcp-session-id') ?? '';
  for (let round = 0; round < 6; round += 1) {
    const answered = await post((round % 2 === 0 ? two : one).url, call('a', { round }), { 'mcp-session-id': session });
    expect(answered.status).toBe(200);
    expect(answered.text).toContain(`\\"round\\":${round}`);
    expect(server.received.at(-1)?.request.headers['mcp-session-id']).toBe('session of the server');
  }
  expect((await post(other.url, call('a'), { 'mcp-session-id': session })).status).toBe(404);
  await rm(directory, { recursive: true });
});

it('under load of 50 clients, with restarts of proxy, server and issuer, each call ends with its own result or an error', async () => {
  const issuer = await startIssuer();
  const backend = startProgram([repoPath('test/gateway/proxy/echo-process.ts'), '0']);
  const [, backendPort = ''] = await backend.printed(/port (\d+)/);
  const child = await startChild({ target_port: Number(backendPort), oidc_config: oidc(issuer.url) });
  let program = await child.run();
  let server = backend;
  let stopped = false;
  const ends = new Map<string, number>();
  const wrong: string[] = [];
  const clients = Array.from({ length: 50 }, async (_, client) => {
    const claims = {
      iss: issuer.url,
      aud: RESOURCE,
      sub: `client-${client}`,
      exp: Math.floor(Date.now() / 1000) + 600,
    };
    const authorization = `Bearer ${await issuer.sign(claims)}`;
    const agent = new Agent({ pipelining: 1 });
    for (let nonce = 0; !stopped; nonce += 1) {
      const id = `${client}-${nonce}`;
      const end = await ask(child.url, agent, { authorization }, id, client);
      if (end === 'wrong') wrong.push(id);
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    await agent.close();
  });
  const results = () => ends.get('200') ?? 0;
  const more = async () => {
    const before = results();
    await expect.poll(results).toBeGreaterThan(before + 200);
  };
  await more();
  await program.kill('SIGKILL');
  program = await child.run();
  await more();
  await server.kill('SIGKILL');
  server = startProgram([repoPath('test/gateway/proxy/echo-process.ts'), backendPort]);
  await server.printed(/port/);
  await more();
  await issuer.stop();
  await more();
  await issuer.resume();
  await issuer.stop();
  await program.kill('SIGKILL');
  program = await child.run();
  // The new process has verified no tokens yet, and the issuer is not reachable.
  await expect.poll(() => ends.get('503') ?? 0).toBeGreaterThan(50);
  await issuer.resume();
  await more();
  await program.kill('SIGTERM');
  expect(program.exitCode()).toBe(0);
  program = await child.run();
  await more();
  stopped = true;
  await Promise.all(clients);
  expect(wrong).toEqual([]);
  expect([...ends.keys()].filter((end) => !['200', '502', '503', 'cut off'].includes(end))).toEqual([]);
  await program.stop();
  await server.stop();
  await issuer.close();
  await child.remove();
});

type Headers = Readonly<Record<string, string>>;

async function ask(url: string, dispatcher: Agent, headers: Headers, id: string, client: number): Promise<string> {
  const body = JSON.stringify(call('echo', { nonce: id }, id));
  try {
    const answered = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body,
      headersTimeout: 20_000,
    });
    const text = await answered.body.text();
    if (answered.statusCode !== 200)
      return JSON.parse(text).error === undefined ? 'unclear' : String(answered.statusCode);
    const { id: answeredId, result } = JSON.parse(text);
    return answeredId === id && result.nonce === id && result.subject === `client-${client}` ? '200' : 'wrong';
  } catch (error) {
    // The process was killed during the request.
    return error instanceof SyntaxError ? 'unclear' : 'cut off';
  }
}
