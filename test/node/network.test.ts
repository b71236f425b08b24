// Tests the NetworkPolicies in manifests/network: clients reach proxies, and only proxies reach servers.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { applyDefinitions, HTTP, openFleet, server } from './fleet.ts';
import { hasEnforcer, kubectl } from './place.ts';
import { type Caller, REFUSED, startCaller } from './pods.ts';

const POLICIES = join(fileURLToPath(new URL('../..', import.meta.url)), 'manifests/network');
const NAMESPACE = 'guarded';
const PROXY = `mcp-http-proxy.${NAMESPACE}.svc.cluster.local`;
const SERVER = `mcp-http.${NAMESPACE}.svc.cluster.local`;

if (!hasEnforcer) {
  process.stderr.write('skipped: NetworkPolicies, because SKEP_NODE_BINARIES has no kube-router that enforces them\n');
}

describe.skipIf(!hasEnforcer)('manifests/network', () => {
  let client: Caller;
  let neighbour: Caller;

  beforeAll(async () => {
    await applyDefinitions();
    await openFleet(NAMESPACE).sync([server(NAMESPACE, 'http', HTTP)]);
    kubectl(['create', 'namespace', 'clients']);
    client = startCaller('clients', 'client', {});
    neighbour = startCaller(NAMESPACE, 'neighbour', {});
  });

  test('are necessary: without them, every pod can connect directly to a server', () => {
    expect(client.connect(SERVER, 3001)).toBe('connected');
    expect(neighbour.connect(SERVER, 3001)).toBe('connected');
  });

  test('refuse direct connections of pods to a server, from its namespace and from other namespaces', async () => {
    expect(kubectl(['-n', NAMESPACE, 'apply', '--server-side', '-k', POLICIES])).toContain('skep-servers');
    // The enforcer applies the policies with a delay.
    await expect.poll(() => client.connect(SERVER, 3001)).toMatch(REFUSED);
    await expect.poll(() => neighbour.connect(SERVER, 3001)).toMatch(REFUSED);
  });

  test('permit clients to call a tool through the proxy', () => {
    const call = ['call', `http://${PROXY}:8080/mcp`, 'echo', 'message=through'];
    expect(client.skep(...call)).toContain('Echo: through');
    expect(neighbour.skep(...call)).toContain('Echo: through');
  });
});
