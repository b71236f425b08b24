// Tests a fleet on a real node: all transports, a process for each session, tokens of the cluster, and replaced pods.

import { beforeAll, describe, expect, test } from 'vitest';
import { applyDefinitions, connect, echo, HTTP, leave, openFleet, SSE, STDIO, server, urlOf } from './fleet.ts';
import { kubectl } from './place.ts';

const NAMESPACE = 'tools';
const POOL = 3;
const fleet = openFleet(NAMESPACE);
const audience = { oidcConfig: { type: 'kubernetes', kubernetes: { audience: 'tools' } } };

beforeAll(async () => {
  await applyDefinitions();
  const annotations = { 'skep.dev/stdio-sharing': 'perSession' };
  await fleet.sync([
    server(NAMESPACE, 'stdio', STDIO),
    server(NAMESPACE, 'http', HTTP),
    server(NAMESPACE, 'sse', SSE),
    server(NAMESPACE, 'pool', { ...STDIO, backendReplicas: POOL }, annotations),
    server(NAMESPACE, 'guarded', { ...STDIO, ...audience }),
  ]);
});

test.each(['stdio', 'http', 'sse'])('a client calls a tool of a server with transport %s', async (name) => {
  const client = await connect(urlOf(NAMESPACE, name));
  await echo(client, name);
  await leave(client);
});

describe('a process for each session', () => {
  /** Number of sessions, which SKEP_COUNT overrides. */
  const sessions = Number(process.env.SKEP_COUNT ?? 20);

  test('serves one session after the other, and no container is restarted', async () => {
    const url = urlOf(NAMESPACE, 'pool');
    let next = 0;
    async function serve(): Promise<void> {
      while (next < sessions) {
        const number = next++;
        const client = await connect(url);
        await echo(client, `begin ${number}`);
        await new Promise((resolve) => setTimeout(resolve, SESSION_MS));
        await echo(client, `end ${number}`);
        await leave(client);
      }
    }
    await Promise.all(Array.from({ length: POOL }, serve));
    const restarts = '-o=jsonpath={.items[*].status.containerStatuses[*].restartCount}';
    const counts = kubectl(['-n', NAMESPACE, 'get', 'pods', '-l', 'app=pool', restarts])?.split(' ') ?? [];
    expect(counts.filter((count) => count !== '0' && count !== '')).toEqual([]);
    const phase = ['-n', NAMESPACE, 'get', 'mcpserver', 'pool', '-o=jsonpath={.status.phase}'];
    expect(kubectl(phase)).toBe('Running');
  });

  /** Duration of a session, long enough that the node notices changes of the pod. */
  const SESSION_MS = 2000;
});

describe('tokens of the cluster', () => {
  const token = (forAudience: string): string =>
    kubectl(['-n', NAMESPACE, 'create', 'token', 'default', `--audience=${forAudience}`])?.trim() ?? '';

  test('are accepted, although the issuer of the cluster differs from the default', async () => {
    const client = await connect(urlOf(NAMESPACE, 'guarded'), token('tools'));
    await echo(client, 'with a token');
    await leave(client);
  });

  test('are refused for another audience', async () => {
    await expect(connect(urlOf(NAMESPACE, 'guarded'), token('other'))).rejects.toThrow(/401|[Uu]nauthorized/);
  });

  test('are required', async () => {
    await expect(connect(urlOf(NAMESPACE, 'guarded'))).rejects.toThrow(/401|[Uu]nauthorized/);
  });
});

test('a new pod of the proxy serves the sessions of the replaced pod', async () => {
  const client = await connect(urlOf(NAMESPACE, 'http'));
  await echo(client, 'before');
  kubectl(['-n', NAMESPACE, 'rollout', 'restart', 'deployment/http']);
  expect(kubectl(['-n', NAMESPACE, 'rollout', 'status', 'deployment/http', '--timeout=180s'])).toBeDefined();
  await echo(client, 'after');
  await leave(client);
});

test('a client learns that the pod of its server was replaced, and begins a new session', async () => {
  const url = urlOf(NAMESPACE, 'http');
  const client = await connect(url);
  await echo(client, 'before');
  kubectl(['-n', NAMESPACE, 'delete', 'pod', 'http-0']);
  expect(kubectl(['-n', NAMESPACE, 'rollout', 'status', 'statefulset/http', '--timeout=180s'])).toBeDefined();
  // After a pod is ready, the Service still needs some time to forward connections to this pod.
  await expect.poll(() => echo(client, 'after').then(String, String)).toMatch(/404|Session not found/);
  const next = await connect(url);
  await echo(next, 'after');
  await leave(next);
});

test('servers that were removed from Git leave no objects', async () => {
  await fleet.sync([server(NAMESPACE, 'http', HTTP)]);
  const left = (): readonly string[] | undefined =>
    kubectl(['-n', NAMESPACE, 'get', 'deployments,statefulsets,services', '-o=name'])?.trim().split('\n').toSorted();
  // The garbage collector of the cluster deletes children some time after their owner.
  await expect
    .poll(left)
    .toEqual([
      ...['deployment.apps/http', 'service/mcp-http', 'service/mcp-http-headless', 'service/mcp-http-proxy'],
      'statefulset.apps/http',
    ]);
});
