// Defines the tests of a running fleet, for the embedded and for a real API server; pods are processes of this machine.
// In one file, because all tests share one fleet, its node and its issuer.

import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { relocateRunConfig } from '#hosts/dev/local-run-config.ts';
import type { ImageProgram } from '#kubernetes/devcluster/node/ports.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { isObject } from '#std/json.ts';
import { formatId, formatProblem } from '#std/problem.ts';
import { type Fleet, openFleet } from '../cluster/fleet.ts';
import { eventually, type SuiteServer } from '../cluster/server.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import { type RunningServer, startFixture } from './mcp-servers.ts';
import { type Images, kubeconfigOfPods, openServerWithNode, type SuiteWithNode, type TestNode } from './node/suite.ts';

const ROOT = new URL('../../', import.meta.url);
const AUDIENCE = 'https://faraway.example.com/mcp';
const TOKEN_HEADER = 'x-remote-token';

function node(file: string, ...args: readonly string[]): ImageProgram {
  return { command: [process.execPath, fileURLToPath(new URL(file, ROOT)), ...args] };
}

function fixture(transport: 'http' | 'sse'): ImageProgram {
  return node('test/conformance/fixture/server-process.ts', '--transport', transport, '--port', '$(MCP_PORT)');
}

/** Returns the programs that run instead of the fleet's images. */
function imagesOn(server: SuiteServer): Images {
  return {
    'registry.example.com/proxy:1': {
      ...node('src/skep.ts'),
      environment: kubeconfigOfPods(server),
      adaptFile: async (name, text, { addresses }) => (await relocateRunConfig(name, text, { addresses })) ?? text,
    },
    'images.example.com/everything:1': node(
      'node_modules/@modelcontextprotocol/server-everything/dist/index.js',
      'stdio',
    ),
    'images.example.com/counted:1': node('test/gateway/backends/stdio/fixture-server.mjs', 'mcp'),
    'images.example.com/fixture:1': fixture('http'),
    'images.example.com/fixture-sse:1': fixture('sse'),
  };
}

let suite: SuiteWithNode;
let fleet: Fleet;
let namespace: string;
let issuer: Issuer;
let remote: RunningServer;
let machine: TestNode;

function manifests(): string {
  const kinds = `apiVersion: ${fleet.group}/v1alpha1`;
  return `${kinds}
kind: MCPServer
metadata: {name: everything, namespace: ${namespace}}
spec: {image: 'images.example.com/everything:1', transport: stdio}
---
${kinds}
kind: MCPServer
metadata: {name: pool, namespace: ${namespace}, annotations: {skep.dev/stdio-sharing: perSession}}
spec: {image: 'images.example.com/counted:1', transport: stdio, backendReplicas: 2}
---
${kinds}
kind: MCPServer
metadata: {name: web, namespace: ${namespace}}
spec:
  image: images.example.com/fixture:1
  transport: streamable-http
  authzConfig:
    type: inline
    inline:
      policies:
        - 'permit(principal, action == Action::"list_tools", resource);'
        - 'permit(principal, action == Action::"call_tool", resource == Tool::"test_simple_text");'
---
${kinds}
kind: MCPServer
metadata: {name: events, namespace: ${namespace}}
spec: {image: 'images.example.com/fixture-sse:1', transport: sse}
---
${kinds}
kind: MCPRemoteProxy
metadata: {name: faraway, namespace: ${namespace}}
spec:
  remoteURL: ${remote.backend.url.href}
  headerForward:
    addHeadersFromSecret: [{headerName: ${TOKEN_HEADER}, valueSecretRef: {name: remote, key: token}}]
  oidcConfig:
    type: inline
    inline: {issuer: '${issuer.url}', audience: '${AUDIENCE}', insecureAllowHTTP: true, jwksAllowPrivateIP: true}
---
apiVersion: v1
kind: Secret
metadata: {name: remote, namespace: ${namespace}}
stringData: {token: a-secret-value}
`;
}

function complaints({ problems, failures, outcomes }: RunResult): readonly string[] {
  return [
    ...problems.filter(({ severity }) => severity === 'error').map(formatProblem),
    ...failures.map(({ message }) => message),
    ...outcomes.flatMap(({ resource, error }) => (error ? `${formatId(resource)}: ${error.message}` : [])),
  ];
}

/** Returns `name: phase` of each resource. Adds the reason if the resource is not ready. */
async function phases(): Promise<readonly string[]> {
  const kinds = (await fleet.client.resources()).filter(({ apiVersion }) => apiVersion.startsWith(`${fleet.group}/`));
  const lists = await Promise.all(kinds.map((kind) => fleet.client.list(kind, namespace)));
  return lists.flat().map(phaseOf).sort();
}

function phaseOf({ metadata, status }: KubeObject): string {
  const { phase, conditions } = isObject(status) ? status : {};
  const ready = (Array.isArray(conditions) ? conditions : []).filter(isObject).find(({ type }) => type === 'Ready');
  return `${metadata.name}: ${phase}${ready?.status === 'True' ? '' : ` (${ready?.message})`}`;
}

const RUNNING = ['events: Running', 'everything: Running', 'faraway: Ready', 'pool: Running', 'web: Running'];

async function untilRunning(): Promise<void> {
  await eventually(
    async () => {
      expect(complaints(await fleet.run())).toEqual([]);
      return phases();
    },
    (all) => JSON.stringify(all) === JSON.stringify(RUNNING),
  ).catch(async (cause: unknown) => {
    throw new Error(await machine.log(), { cause });
  });
}

interface Reached {
  readonly tools: readonly string[];
  readonly result: unknown;
}

/** Lists the tools and calls one. */
async function use(service: string, tool: string, args: Record<string, unknown> = {}, token = ''): Promise<Reached> {
  const origin = await machine.url(namespace, service, 8080);
  const requestInit = token === '' ? {} : { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'fleet', version: '1.0.0' });
  await client.connect(
    service.includes('events')
      ? new SSEClientTransport(new URL('/sse', origin))
      : new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit }),
  );
  try {
    const { tools } = await client.listTools();
    const { content } = await client.callTool({ name: tool, arguments: args });
    return { tools: tools.map(({ name }) => name), result: content };
  } finally {
    await client.close();
  }
}

interface Opened {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** Opens a session, which the caller closes. */
async function open(service: string): Promise<Opened> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', await machine.url(namespace, service, 8080)));
  const client = new Client({ name: 'fleet', version: '1.0.0' });
  await client.connect(transport);
  return { client, transport };
}

async function textOf({ client }: Opened, tool: string): Promise<unknown> {
  const { content } = await client.callTool({ name: tool, arguments: {} });
  return Array.isArray(content) ? content[0]?.text : undefined;
}

/** Returns readiness, restart count and last exit code of the pod's first container. */
async function runsOf(pod: string): Promise<unknown> {
  const found = await fleet.client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: pod });
  const statuses = isObject(found?.status) ? found.status.containerStatuses : [];
  const [first] = Array.isArray(statuses) ? statuses.filter(isObject) : [];
  const terminated = isObject(first?.lastState) ? first.lastState.terminated : {};
  const exitCode = isObject(terminated) ? terminated.exitCode : undefined;
  return { ready: first?.ready, restarts: first?.restartCount, exitCode };
}

const SIMPLE_TEXT = [{ type: 'text', text: 'This is a simple text response for testing.' }];
const HELLO = [{ type: 'text', text: 'Echo: hello' }];

/** `kubeconfig` is for a server on this machine without nodes. If it is empty, the tests use the embedded server. */
export function tellOfRunningFleet(kubeconfig: string): void {
  beforeAll(async () => {
    suite = await openServerWithNode(kubeconfig);
    [fleet, namespace] = [await openFleet(suite.server), await suite.server.namespace('runs')];
    [issuer, remote] = await Promise.all([startIssuer(), startFixture({ transport: 'http', eras: 'session' })]);
    machine = await suite.run([namespace], imagesOn(suite.server));
    fleet.git.commit({ 'fleet.yaml': manifests() });
  });

  afterAll(async () => {
    await fleet?.close();
    await Promise.all([issuer?.close(), remote?.stop()]);
    await suite?.close();
  });

  test('every server and proxy of a synced fleet reaches Running', untilRunning);
  describe('clients list and call tools', clients);
  describe('a killed container is restarted', restarts);
}

function clients(): void {
  test('of a stdio server, over pods/attach', async () => {
    const { tools, result } = await use('mcp-everything-proxy', 'echo', { message: 'hello' });
    expect(tools).toContain('echo');
    expect(result).toEqual(HELLO);
  });

  test('of a server with a process for each session; without a free process, a new session gets 503', async (context) => {
    if (!machine.takesV5) context.skip('the server speaks SPDY to nodes');
    const [first, second] = [await open('mcp-pool-proxy'), await open('mcp-pool-proxy')];
    const pids = [await textOf(first, 'pid'), await textOf(second, 'pid')];
    expect(new Set(pids).size).toBe(2);
    await expect(open('mcp-pool-proxy')).rejects.toMatchObject({ code: 503 });
    await first.transport.terminateSession();
    await Promise.all([first.client.close(), second.client.close()]);
    const third = await eventually(
      () => open('mcp-pool-proxy').catch(() => undefined),
      (opened) => opened !== undefined,
    );
    expect(pids).not.toContain(third === undefined ? undefined : await textOf(third, 'pid'));
    await third?.client.close();
  });

  test('of a server over streamable HTTP, if its policies permit the tool', async () => {
    const { tools, result } = await use('mcp-web-proxy', 'test_simple_text');
    expect(tools).toEqual(['test_simple_text']);
    expect(result).toEqual(SIMPLE_TEXT);
    await expect(use('mcp-web-proxy', 'test_image_content')).rejects.toThrow();
  });

  test('of a server over HTTP+SSE', async () => {
    expect((await use('mcp-events-proxy', 'test_simple_text')).result).toEqual(SIMPLE_TEXT);
  });

  test('of a remote server, with a token', async () => {
    const token = await issuer.token('jwt', AUDIENCE);
    expect((await use('mcp-faraway-remote-proxy', 'test_simple_text', {}, token)).result).toEqual(SIMPLE_TEXT);
    await expect(use('mcp-faraway-remote-proxy', 'test_simple_text')).rejects.toThrow(/401|nauthorized/);
  });
}

function restarts(): void {
  test.each([
    { reason: 'a stdio server', name: 'everything', service: 'mcp-everything-proxy', tool: 'echo' },
    { reason: 'a server over HTTP', name: 'web', service: 'mcp-web-proxy', tool: 'test_simple_text' },
  ])('$reason', async ({ name, service, tool }) => {
    await machine.kill({ namespace, pod: `${name}-0`, container: 'mcp' });
    await eventually(
      () => runsOf(`${name}-0`),
      (runs) => JSON.stringify(runs) === JSON.stringify({ ready: true, restarts: 1, exitCode: 137 }),
    );
    await untilRunning();
    const { result } = await use(service, tool, { message: 'hello' });
    expect(result).toEqual(tool === 'echo' ? HELLO : SIMPLE_TEXT);
  });

  test('the proxy of a stdio server, which then attaches to the same server process', async () => {
    const before = await runsOf('everything-0');
    const pods = await fleet.client.list(
      { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, verbs: ['list'] },
      namespace,
    );
    const proxy = pods.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] === 'everything');
    const name = proxy?.metadata.name ?? '';
    await machine.kill({ namespace, pod: name, container: 'toolhive' });
    await eventually(
      () => runsOf(name),
      (runs) => JSON.stringify(runs) === JSON.stringify({ ready: true, restarts: 1, exitCode: 137 }),
    );
    await untilRunning();
    expect((await use('mcp-everything-proxy', 'echo', { message: 'hello' })).result).toEqual(HELLO);
    expect(await runsOf('everything-0')).toEqual(before);
  });
}
