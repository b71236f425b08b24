// Work per byte is bounded: while a stranger sends the heads, queries and bodies that are most expensive for their size to
// any route of any listener, `/health` answers, and no turn of the event loop takes long. It is measured in processor time
// of the thread that serves, so that a busy machine changes nothing.  The bound of a turn is 50 ms. A body may in addition
// cost four times what `JSON.parse` of the same bytes, or a loop over them, costs on this machine at this moment: it is
// scanned by the gate, walked where policies read it, and parsed where a method needs it, by the gate and by what is behind
// it. Whatever is quadratic in 4 MiB costs minutes. In one file, because one table of listeners is walked by the same three
// properties.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { freePort } from '#kubernetes/devcluster/node/free-port.ts';
import type { Longest } from '../../scripts/bench/watched-turns.ts';
import { startMember, type TestMember, tool } from '../gateway/virtual-server/member.ts';
import { workflow } from '../gateway/virtual-server/workflow-world.ts';
import { configOf } from '../gateway/virtual-server/world.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import type { Listening, Start } from './listeners.ts';
import { costlyMessages, type Target } from './mcp-messages.ts';
import { type Costly, costlyBodies, costlyHeads, costlyQueries, WEBHOOK_SECRET } from './requests.ts';

const TURN_MS = 50;
const PASSES = 4;
/** A collection of garbage may fall into a turn; what is slow by itself is slow each time. */
const TRIES = 4;

const ENTRY = fileURLToPath(new URL('./watched-listener.ts', import.meta.url));
const children: ChildProcess[] = [];
let directory: string;
let server: Server;
let serverPort: number;
let member: TestMember;
let database: TestDatabase;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skep-bounds-'));
  server = createServer({ maxHeaderSize: 256 * 1024 }, answerShortly).listen(0, '127.0.0.1');
  await once(server, 'listening');
  serverPort = (server.address() as AddressInfo).port;
  member = await startMember({
    name: 'notes',
    tools: [tool('take', { inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } })],
    resourceTemplates: [{ name: 'note', uriTemplate: 'notes://{owner}/{folder}/{book}/{page}' }],
    results: { take: () => ({ content: [] }) },
  });
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const child of children) child.disconnect();
  server.closeAllConnections();
  server.close();
  await Promise.all([member.close(), database.drop(), rm(directory, { recursive: true })]);
});

/** An MCP server that reads nothing of what it gets. */
const answerShortly: Parameters<typeof createServer>[1] = (request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
  });
};

interface Watched extends Listening {
  /** The status; 0 if the server ended the connection. */
  send(made: Made): Promise<number>;
  health(): Promise<number>;
  longest(): Promise<number>;
}

/** A request with its body. */
type Made = Omit<Costly, 'body'> & { readonly method: string; readonly body: string | undefined };

async function watch(start: Start): Promise<Watched> {
  const child = fork(ENTRY, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  child.send(start);
  const [listening] = (await once(child, 'message')) as [Listening];
  const [agent, healthAgent] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
  return {
    ...listening,
    send: ({ method, target, headers, body }) => exchange(listening.url, { method, target, headers, body, agent }),
    health: () => exchange(listening.url, { method: 'GET', target: '/health', headers: {}, agent: healthAgent }),
    async longest() {
      child.send('how long');
      const [longest] = (await once(child, 'message')) as [Longest];
      return longest.workMs;
    },
  };
}

interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly agent: Agent;
}

/** The status; 0 if the server ended the connection. Streams are left once they have begun. */
function exchange(url: string, { method, target, headers, body, agent }: Exchange): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const request = httpRequest({ hostname, port, method, path: target, headers, agent }, (response) => {
      const status = response.statusCode ?? 0;
      if (response.headers['content-type'] === 'text/event-stream') {
        resolve(status);
        response.destroy();
        return;
      }
      response.resume().once('close', () => resolve(status));
    });
    request.once('error', () => resolve(0));
    request.end(body);
  });
}

/** Processor time of this thread for one pass over a body. */
function passMs(text: string | undefined): number {
  return text === undefined
    ? 0
    : Math.max(
        costMs(() => parse(text)),
        costMs(() => loop(text)),
      );
}

function costMs(task: () => unknown): number {
  const begun = process.threadCpuUsage();
  task();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Some bodies are forms, or JSON that is too deep: only the part before that is read.
    return undefined;
  }
}

function loop(text: string): number {
  const bytes = Buffer.from(text);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) sum += bytes[at] ?? 0;
  return sum;
}

async function longestTurn(listener: Watched, made: Made): Promise<number> {
  await listener.longest();
  const sent = listener.send(made);
  const health = listener.health();
  // A request that is refused for its size shows nothing, unless that is what it is to show.
  if (made.refused === true) expect(await sent, made.what).toBe(413);
  else expect([413, 431], made.what).not.toContain(await sent);
  expect(await health, made.what).toBe(200);
  return listener.longest();
}

/** Requests that took too long, each with its turn and its bound. */
async function slowRequests(
  listener: Watched,
  method: string,
  all: readonly Costly[],
  passes = PASSES,
): Promise<readonly string[]> {
  const slow: string[] = [];
  for (const { body: make, ...rest } of all) {
    const made = { ...rest, method, body: make?.() };
    const { what, target } = made;
    const bound = TURN_MS + passes * passMs(made.body);
    let turn = Number.POSITIVE_INFINITY;
    for (let count = 0; count < TRIES && turn > bound; count += 1) {
      turn = Math.min(turn, await longestTurn(listener, made));
    }
    if (turn > bound) slow.push(`${method} ${target.slice(0, 60)} ${what}: ${turn} ms, at most ${bound}`);
  }
  return slow;
}

const POLICIES = [
  'permit(principal, action == Action::"call_tool", resource == Tool::"find_tool");',
  'permit(principal, action == Action::"call_tool", resource == Tool::"call_tool");',
  'permit(principal, action == Action::"call_tool", resource) when { context has arg_n && context.arg_n <= 100 };',
  'permit(principal, action == Action::"get_prompt", resource) when { context has arg_n };',
  'permit(principal, action == Action::"read_resource", resource) when { resource.uri like "notes:*" };',
];
const WHOLE = ['permit(principal, action, resource) when { context == {claim_sub: "anonymous", arg_n: 1} };'];

async function policyFile(name: string, policies: readonly string[]): Promise<string> {
  const file = join(directory, `${name}.json`);
  await writeFile(file, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  return file;
}

function proxyConfig(more: Partial<RunConfig>): RunConfig {
  return {
    schema_version: 'v0.1.0',
    name: 'bounded',
    namespace: 'tests',
    transport: 'streamable-http',
    proxy_mode: 'streamable-http',
    host: '127.0.0.1',
    port: 0,
    target_host: '127.0.0.1',
    target_port: serverPort,
    trust_proxy_headers: true,
    audit_config: { enabled: true, component: 'bounded' },
    ...more,
  };
}

async function withIssuer(): Promise<Start> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const config = proxyConfig({
    port,
    oidc_config: {
      issuer,
      resource_url: `${issuer}/mcp`,
      scopes: ['openid'],
      jwks_allow_private_ip: true,
      protected_resource_allow_private_ip: true,
      insecure_allow_http: true,
    },
    embedded_auth_server_config: {
      schema_version: 'v0.1.0',
      issuer,
      token_lifespans: { access_token_lifespan: '1h', refresh_token_lifespan: '168h', auth_code_lifespan: '10m' },
      upstreams: [
        {
          name: 'login',
          type: 'oidc',
          oidc_config: {
            issuer_url: 'http://127.0.0.1:1',
            client_id: 'skep',
            client_secret_env_var: 'LOGIN_SECRET',
            redirect_uri: `${issuer}/oauth/callback`,
            scopes: ['openid'],
          },
        },
      ],
      scopes_supported: ['openid', 'profile'],
      allowed_audiences: [`${issuer}/mcp`],
      storage: { type: 'memory' },
    },
  });
  return { kind: 'proxy', config, environment: { LOGIN_SECRET: 'a secret' } };
}

const OPTIMIZER: Partial<VmcpConfig> = {
  optimizer: {
    maxToolsToReturn: 8,
    embeddingServiceTimeout: '30s',
    hybridSearchSemanticRatio: '0.5',
    semanticDistanceThreshold: '0.5',
  },
};

function virtualServer(more: Partial<VmcpConfig> = {}): Start {
  const config = configOf(
    { notes: member },
    {
      incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies: POLICIES } },
      ...more,
      compositeTools: [
        workflow([{ id: 'take', type: 'tool', tool: 'notes.take', arguments: { n: '{{.params.n}}' } }], {
          name: 'flow',
          parameters: {
            type: 'object',
            properties: {
              n: { type: 'array', uniqueItems: true, items: { type: ['object', 'array', 'number', 'string'] } },
            },
          },
        }),
      ],
    },
  );
  return { kind: 'virtual server', config };
}

/** The largest body of every listener but the MCP endpoints. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Tools that are called with bodies of MCP, the first one with all of them and with what comes besides. */
interface Calls {
  readonly tools: readonly string[];
  readonly besides?: Target['besides'];
  readonly argumentsOf?: Target['argumentsOf'];
  /** Factor on the cost of a body. */
  readonly passes?: number;
}

const LISTENERS: readonly (readonly [name: string, start: () => Promise<Start>, calls: Calls])[] = [
  [
    'proxy',
    async () => ({ kind: 'proxy', config: proxyConfig({ authz_config_path: await policyFile('named', POLICIES) }) }),
    { tools: ['take'], besides: 'all' },
  ],
  [
    'proxy whose policies read the context as a whole',
    async () => ({ kind: 'proxy', config: proxyConfig({ authz_config_path: await policyFile('whole', WHOLE) }) }),
    { tools: ['take'] },
  ],
  ['proxy of 2024-11-05', async () => ({ kind: 'proxy', config: proxyConfig({ transport: 'sse' }) }), { tools: [] }],
  ['proxy with an authorization server', withIssuer, { tools: [] }],
  ['virtual server', async () => virtualServer(), { tools: ['notes_take', 'flow'], besides: 'all' }],
  [
    'virtual server with the optimizer',
    async () => virtualServer(OPTIMIZER),
    {
      tools: ['call_tool'],
      besides: 'long names',
      // It is read as itself, and as the call of the tool that it names.
      passes: 2 * PASSES,
      argumentsOf: (value) => `{"tool_name":"notes_take","parameters":{"n":${value}}}`,
    },
  ],
  ['registry service', async () => ({ kind: 'registry service', database: database.app }), { tools: [] }],
  ['control listener', async () => ({ kind: 'control listener', secret: WEBHOOK_SECRET }), { tools: [] }],
];

describe.each(LISTENERS)(
  '%s',
  (_name, start, { tools, besides = 'nothing', argumentsOf = (value) => `{"n":${value}}`, passes }) => {
    let listener: Watched;
    beforeAll(async () => {
      listener = await watch(await start());
      // The first requests make code warm.
      for (let count = 0; count < 20; count += 1) await listener.health();
    });

    it('has routes', () => {
      expect(listener.routes.map(({ path }) => path)).toContain('/health');
      expect(listener.routes.length).toBeGreaterThan(3);
    });

    it('answers heads and queries of the allowed size in time, at every route', async () => {
      const slow: string[] = [];
      for (const { method, path } of listener.routes) {
        const all = [...costlyHeads(path, listener.headBytes), ...costlyQueries(path, listener.headBytes)];
        slow.push(...(await slowRequests(listener, method, all)));
      }
      expect(slow).toEqual([]);
    });

    it('answers bodies of the allowed size in time, at every route that takes one', async () => {
      const slow: string[] = [];
      for (const { method, path, bodyBytes } of listener.routes) {
        if (bodyBytes === 0) continue;
        if (bodyBytes <= SMALL_BODY_BYTES) {
          slow.push(...(await slowRequests(listener, method, costlyBodies(path, bodyBytes))));
          continue;
        }
        const session = await beginSession(listener.url, path);
        for (const [index, name] of tools.entries()) {
          const all = costlyMessages(path, bodyBytes, {
            tool: name,
            argumentsOf,
            session,
            besides: index === 0 ? besides : 'nothing',
            few: index > 0,
          });
          slow.push(...(await slowRequests(listener, method, all, passes)));
        }
      }
      expect(slow).toEqual([]);
    });
  },
);

async function beginSession(url: string, path: string): Promise<string | undefined> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const begun = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  await begun.text();
  return begun.headers.get('mcp-session-id') ?? undefined;
}
