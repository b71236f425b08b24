// A proxy that does not reach its server: `/readyz`, its log and the status of the MCPServer have the reason.

import { execFileSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { applyDefinitions, HTTP, openFleet, server } from './fleet.ts';
import { KUBECONFIG, kubectl } from './place.ts';

const NAMESPACE = 'unready';
const fleet = openFleet(NAMESPACE, 20);
/** Its port is open, so that its pod is ready; no request is answered. */
const closing = ['node', '-e', 'require("node:net").createServer((socket) => socket.destroy()).listen(3001)'];
const podTemplateSpec = { spec: { containers: [{ name: 'mcp', command: closing }] } };
const manifests = [server(NAMESPACE, 'deaf', { ...HTTP, podTemplateSpec })];
/** The exit code of `skep sync` if resources are not ready in time. */
const NOT_READY = 8;

beforeAll(async () => {
  await applyDefinitions();
  await fleet.sync(manifests, NOT_READY);
  expect(kubectl(['-n', NAMESPACE, 'rollout', 'status', 'statefulset/deaf', '--timeout=120s'])).toBeDefined();
});

async function reasonOf(): Promise<string> {
  const pod = ['-n', NAMESPACE, 'get', 'pods', '-l', 'app.kubernetes.io/name=mcpserver'];
  const response = await fetch(`http://${kubectl([...pod, '-o=jsonpath={.items[0].status.podIP}'])}:8080/readyz`);
  expect(response.status).toBe(503);
  const { reason } = (await response.json()) as { readonly reason: string };
  return reason;
}

test('the body of /readyz, the log and the message of the MCPServer say why', async () => {
  // Before the name of the Service is there, the reason is another one.
  await expect.poll(reasonOf).toMatch(/^the MCP server did not answer: .*:3001: (ECONNRESET|UND_ERR)/);
  const reason = await reasonOf();
  await fleet.sync(manifests, NOT_READY);
  const message = kubectl(['-n', NAMESPACE, 'get', 'mcpserver', 'deaf', '-o=jsonpath={.status.message}']) ?? '';
  expect(message).toContain('MCP server is starting: its proxy is not ready.');
  const command = /kubectl -n .*$/.exec(message)?.[0];
  expect(command).toBe(`kubectl -n ${NAMESPACE} logs deployment/deaf`);
  // The command is run as the message has it.
  const log = execFileSync('sh', ['-c', `${command}`], { env: { ...process.env, KUBECONFIG }, encoding: 'utf8' });
  expect(log.split('\n').filter((line) => line.includes(reason))).toHaveLength(1);
});
