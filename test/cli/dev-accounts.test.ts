// Servers of `skep dev` that accept tokens of Kubernetes service accounts, with the default settings: the embedded cluster issues the
// tokens.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningServers } from '#contracts/running-servers.ts';
import { isObject } from '#std/json.ts';
import { eventually } from '../harness/cluster.ts';
import { createRepository, temporaryFolder } from '../harness/git-server.ts';
import { type Running, startSkep } from '../harness/skep.ts';
import { type Api, connect } from '../recordings/api.ts';

const folder = temporaryFolder();
const fleet = createRepository(join(folder.path, 'fleet'));
let dev: Running;
let api: Api;
let origin: string;

const MANIFESTS = `
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: {name: all, namespace: default}
spec: {}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: days, namespace: default}
spec:
  image: skep:1.0.0
  args: [sample, holidays]
  transport: streamable-http
  mcpPort: 3000
  oidcConfig: {type: kubernetes}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: desk, namespace: default}
spec:
  config: {groupRef: all}
  incomingAuth: {type: oidc, oidcConfig: {type: kubernetes, kubernetes: {audience: desk}}}
`;

beforeAll(async () => {
  fleet.commit({ 'fleet.yaml': MANIFESTS });
  const sources = [{ name: 'fleet', repository: pathToFileURL(fleet.dir).href, branch: 'main' }];
  writeFileSync(
    join(folder.path, 'skep.yaml'),
    JSON.stringify({ name: 'accounts', sources, outbound: { allowFiles: true } }),
  );
  dev = startSkep(['dev', '-c', 'skep.yaml', '--port', '0', '--data', 'state'], { cwd: folder.path });
  const text = await dev.printed('Ctrl-C stops everything');
  origin = /http:\/\/127\.0\.0\.1:\d+(?=\/catalogue)/.exec(text)?.[0] ?? '';
  api = await connect(join(folder.path, 'state', 'cluster', 'kubeconfig'));
  await eventually(
    async () => (await (await fetch(`${origin}/mcp`)).json()) as RunningServers,
    ({ servers }) => servers.length === 2 && servers.every(({ ready }) => ready),
  );
});

afterAll(async () => {
  await api?.close();
  dev?.kill('SIGTERM');
  await dev?.finished;
  folder.remove();
});

async function tokenFor(audience: string): Promise<string> {
  const { body } = await api.call({
    ...{ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/default/token', query: {} },
    contentType: 'application/json',
    body: JSON.stringify({ spec: { audiences: [audience] } }),
  });
  return isObject(body) && isObject(body.status) ? String(body.status.token) : '';
}

test.each(['mcpservers/days', 'virtualmcpservers/desk'])(
  'the status of %s names the issuer of the cluster',
  async (path) => {
    const { body } = await eventually(
      () =>
        api.call({ method: 'GET', path: `/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/${path}`, query: {} }),
      (answer) => JSON.stringify(answer.body).includes('ServiceAccountTokensAccepted'),
    );
    const message = 'tokens of the issuer https://kubernetes.default.svc.cluster.local are accepted';
    expect(body).toMatchObject({
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'ServiceAccountTokensAccepted', status: 'True', message }),
        ]),
      },
    });
  },
);

async function statusOf(server: string, audience: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${await tokenFor(audience)}`,
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  return (await fetch(`${origin}/mcp/default/${server}`, { method: 'POST', headers, body })).status;
}

test.each([
  { server: 'days', audience: 'toolhive', other: 'desk' },
  { server: 'desk', audience: 'desk', other: 'toolhive' },
])('$server accepts tokens for $audience', async ({ server, audience, other }) => {
  expect(await statusOf(server, audience)).toBe(200);
  expect(await statusOf(server, other)).toBe(401);
});
