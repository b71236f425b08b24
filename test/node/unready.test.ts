// Tests that `/readyz`, the log and the status of the MCPServer contain the reason why a proxy cannot reach its server.

import { execFileSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { applyDefinitions, HTTP, openFleet, server } from './fleet.ts';
import { KUBECONFIG, kubectl } from './place.ts';

const NAMESPACE = 'unready';
const fleet = openFleet(NAMESPACE, 20);
/** Command of a server whose port is open, so that its pod is ready, but which closes every connection. */
const closing = ['node', '-e', 'require("node:net").createServer((socket) => socket.destroy()).listen(3001)'];
const podTemplateSpec = { spec: { containers: [{ name: 'mcp', command: closing }] } };
const manifests = [
  server(NAMESPACE, 'deaf', { ...HTTP, podTemplateSpec }),
  // The server listens on port 3001, so the probes of port 3009 fail.
  server(NAMESPACE, 'elsewhere', { ...HTTP, mcpPort: 3009 }),
];
/** The exit code of `skep sync` if resources are not ready in time. */
const NOT_READY = 8;

beforeAll(async () => {
  await applyDefinitions();
  await fleet.sync(manifests, NOT_READY);
  expect(kubectl(['-n', NAMESPACE, 'rollout', 'status', 'statefulset/deaf', '--timeout=120s'])).toBeDefined();
});

async function reasonOf(): Promise<string> {
  const labels = 'app.kubernetes.io/name=mcpserver,app.kubernetes.io/instance=deaf';
  const address = kubectl(['-n', NAMESPACE, 'get', 'pods', '-l', labels, '-o=jsonpath={.items[0].status.podIP}']);
  const response = await fetch(`http://${address}:8080/readyz`);
  expect(response.status).toBe(503);
  const { reason } = (await response.json()) as { readonly reason: string };
  return reason;
}

test('/readyz and the log contain the reason, and the message of the MCPServer names the command for the log', async () => {
  // Before the name of the Service can be resolved, the reason differs.
  await expect.poll(reasonOf).toMatch(/^the MCP server did not answer: .*:3001: (ECONNRESET|UND_ERR)/);
  const reason = await reasonOf();
  await fleet.sync(manifests, NOT_READY);
  expect(messageOf('deaf')).toContain('MCP server is starting: its proxy is not ready.');
  const log = runCommandOf('deaf', `kubectl -n ${NAMESPACE} logs deployment/deaf`);
  expect(log.split('\n').filter((line) => line.includes(reason))).toHaveLength(1);
});

test('the message of an MCPServer names the command that shows why its own pod is not ready', () => {
  expect(messageOf('elsewhere')).toContain('MCP server is starting: no pod of the server is ready.');
  const events = runCommandOf('elsewhere', `kubectl -n ${NAMESPACE} describe pod elsewhere-0`);
  expect(events).toMatch(/Readiness probe failed: .*:3009: connect: connection refused/);
});

function messageOf(name: string): string {
  return kubectl(['-n', NAMESPACE, 'get', 'mcpserver', name, '-o=jsonpath={.status.message}']) ?? '';
}

/** Runs the command in the message, which must be the expected command. */
function runCommandOf(name: string, expected: string): string {
  const command = /kubectl -n .*$/.exec(messageOf(name))?.[0];
  expect(command).toBe(expected);
  return execFileSync('sh', ['-c', expected], { env: { ...process.env, KUBECONFIG }, encoding: 'utf8' });
}
