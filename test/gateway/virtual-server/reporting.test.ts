// Tests the health endpoint, the status in the cluster, the audit and the warnings of a virtual server. In one file,
// because the tests share a reachable and an unreachable backend.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { connectCluster } from '#adapters/cluster/connect.ts';
import { formatVmcpConfig, VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { systemClock } from '#hosts/clock.ts';
import { checkVirtualConfig } from '#hosts/virtual-server/validate.ts';
import { createWatchedFiles } from '#hosts/watched-files.ts';
import { VirtualMCPServer } from '#reconciler/kinds/virtualmcpserver/index.ts';
import { resourceFrom } from '#reconciler/run/settle/settle.ts';
import { writeStatuses } from '#reconciler/run/settle/tell.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { get } from '../proxy/world.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

let good: TestMember;
let gone: TestMember;
const running: TestedVirtualServer[] = [];
const folder = mkdtempSync(join(tmpdir(), 'skep-vmcp-'));

beforeAll(async () => {
  good = await startMember({ name: 'good', tools: [tool('echo')] });
  gone = await startMember();
  await gone.close();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of running.splice(0)) await each.stop();
});
afterAll(async () => {
  await good.close();
  rmSync(folder, { recursive: true });
});

async function run(
  settings: Partial<VmcpConfig> = {},
  environment = {},
  backends: Parameters<typeof configOf>[0] = { good, gone },
) {
  const server = await runVirtual(configOf(backends, settings), environment);
  running.push(server);
  return server;
}

const OFTEN = { healthCheckInterval: '50ms', unhealthyThreshold: 2, partialFailureMode: 'best_effort' } as const;

describe('health', () => {
  it('counts backends by state, without names, URLs and messages', async () => {
    const { origin } = await run(operational(OFTEN));
    await expect
      .poll(async () => (await get(`${origin}/api/backends/health`)).json.summary)
      .toMatchObject({
        total: 2,
        healthy: 1,
        unhealthy: 1,
      });
    expect((await get(`${origin}/status`)).json).toMatchObject({
      healthy: false,
      backends: { total: 2, unhealthy: 1 },
    });
    for (const path of ['/status', '/api/backends/health']) {
      expect((await get(origin + path)).text).not.toMatch(/good|gone|127\.0\.0\.1/);
    }
    expect((await get(`${origin}/readyz`)).status).toBe(200);
  });

  it('a server is not ready while a backend starts; as soon as it is ready, all lists can be read', async () => {
    const { port, close } = await startMember();
    await close();
    const starting = { good, late: { url: `http://127.0.0.1:${port}/mcp` } };
    const settings = { healthCheckInterval: '50ms', unhealthyThreshold: 1000, partialFailureMode: 'fail' } as const;
    const server = await run(operational(settings), {}, starting);
    await server.written('the lists of a backend cannot be read');
    expect((await get(`${server.origin}/readyz`)).status).toBe(503);
    const late = await startMember({ tools: [tool('echo')], port });
    await expect.poll(async () => (await get(`${server.origin}/readyz`)).status).toBe(200);
    const client = await connect(server);
    const names = (await client.ask('tools/list')).tools.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(['good_echo', 'late_echo']);
    server.replace(configOf({ ...starting, gone }, operational(settings)));
    expect((await get(`${server.origin}/readyz`)).status).toBe(200);
    await late.close();
  });

  it('an open circuit refuses calls at once, and a successful call closes it', async () => {
    const member = await startMember({ tools: [tool('echo')] });
    const { port } = member;
    const circuitBreaker = { enabled: true, failureThreshold: 2, timeout: '300ms' };
    const server = await run(
      operational({ ...OFTEN, healthCheckInterval: '10m', circuitBreaker }),
      {},
      { good, gone: member },
    );
    const client = await connect(server);
    const call = async () => (await client.ask('tools/call', { name: 'gone_echo' })).error?.message;
    expect(await call()).toBeUndefined();
    await member.close();
    expect([await call(), await call()]).toEqual([expect.stringContaining('gone'), expect.stringContaining('gone')]);
    expect(await call()).toContain('gets no requests for a while');
    const again = await startMember({ tools: [tool('echo')], port });
    await expect.poll(call).toBeUndefined();
    await again.close();
  });
});

describe('the status in the cluster', () => {
  let cluster: TestCluster;
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/virtualmcpservers/office';
  beforeAll(async () => {
    cluster = await startTestCluster();
    const crd = parse(readFileSync('manifests/crds/virtualmcpservers.yaml', 'utf8'));
    await cluster.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`, crd);
    const office = {
      apiVersion: 'toolhive.stacklok.dev/v1alpha1',
      kind: 'VirtualMCPServer',
      metadata: { name: 'office', namespace: 'default' },
      spec: { incomingAuth: { type: 'anonymous' }, config: { groupRef: 'tools' } },
    };
    await vi.waitFor(async () => expect((await cluster.apply(path, office)).status).toBeLessThan(300));
  });
  afterAll(() => cluster.stop());

  it('contains the current state of each backend', async () => {
    const environment = {
      KUBECONFIG: cluster.kubeconfigPath,
      [VMCP_ENV.name]: 'office',
      [VMCP_ENV.namespace]: 'default',
    };
    vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
    await run(operational(OFTEN), environment);
    const backends = async () => (await cluster.send('GET', path)).body.status?.discoveredBackends;
    await expect.poll(backends).toMatchObject([
      { name: 'good', status: 'ready', consecutiveFailures: 0, lastHealthCheck: expect.stringMatching(/Z$/) },
      { name: 'gone', status: 'unavailable', message: expect.stringContaining('127.0.0.1') },
    ]);
  });

  it('drops the message of a past failure, although the reconciler writes the same list', async () => {
    const environment = {
      KUBECONFIG: cluster.kubeconfigPath,
      [VMCP_ENV.name]: 'desk',
      [VMCP_ENV.namespace]: 'default',
    };
    vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
    const flaky = await startMember({ tools: [tool('echo')] });
    const { url, port } = flaky;
    const spec = {
      incomingAuth: { type: 'anonymous' },
      outgoingAuth: { source: 'inline' },
      config: { groupRef: 'tools', backends: [{ name: 'flaky', url, transport: 'streamable-http' }] },
    };
    const desk = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'VirtualMCPServer', spec };
    const metadata = { name: 'desk', namespace: 'default' };
    expect((await cluster.apply(path.replace('office', 'desk'), { ...desk, metadata })).status).toBe(201);
    const reconciler = await connectCluster({
      ...{ kubeconfig: cluster.kubeconfigPath, fieldManager: 'skep-fleet', concurrency: 1, version: '0' },
      clock: systemClock,
    });
    const id = { apiVersion: desk.apiVersion, kind: desk.kind, ...metadata };
    const backend = async () => (await reconciler.get(id))?.status as { discoveredBackends?: JsonObject[] } | undefined;
    const flakyBackend = async () => (await backend())?.discoveredBackends?.[0];
    const settle = async () => {
      const live = await reconciler.get(id);
      if (live === undefined || !isObject(live.spec)) throw new Error('there is no desk');
      const resource = resourceFrom(live, live.spec);
      const now = new Date().toISOString();
      const view = { find: () => undefined, all: () => [] };
      const status = VirtualMCPServer.status(resource, { view, refusals: [], failures: [], now });
      const change = { id, live: resource, status, written: VirtualMCPServer.written(status) };
      const deps = { cluster: reconciler, clock: systemClock, instance: 'fleet' };
      expect((await writeStatuses(deps, [change], now)).failures).toEqual([]);
    };
    await settle();
    await run(operational({ ...OFTEN, statusReportingInterval: '1s' }), environment, { flaky });
    await expect.poll(flakyBackend).toMatchObject({ status: 'ready' });
    await flaky.close();
    await expect.poll(flakyBackend).toMatchObject({ status: 'unavailable', message: expect.any(String) });
    await settle();
    expect(await flakyBackend()).toMatchObject({ url, status: 'unavailable', message: expect.any(String) });
    const again = await startMember({ tools: [tool('echo')], port });
    await expect.poll(flakyBackend).toMatchObject({ url, status: 'ready', consecutiveFailures: 0 });
    expect(await flakyBackend()).not.toHaveProperty('message');
    await Promise.all([again.close(), reconciler.close()]);
  });

  it('that cannot be written is logged once', async () => {
    vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
    const environment = {
      KUBECONFIG: cluster.kubeconfigPath,
      [VMCP_ENV.name]: 'lost',
      [VMCP_ENV.namespace]: 'default',
    };
    const server = await run({}, environment, { good, gone: good });
    await server.written('vmcp-status-unwritten');
  });
});

describe('the audit', () => {
  function audit(more: Partial<NonNullable<VmcpConfig['audit']>>): Pick<VmcpConfig, 'audit'> {
    return {
      audit: {
        enabled: true,
        component: 'desk',
        includeRequestData: false,
        includeResponseData: false,
        maxDataSize: 0,
        ...more,
      },
    };
  }

  it.each([
    ['every type', {}, ['mcp_initialize', 'mcp_notification', 'mcp_tools_list']],
    [
      'the types that are named',
      { eventTypes: ['mcp_tools_list', 'mcp_initialize'] },
      ['mcp_initialize', 'mcp_tools_list'],
    ],
    ['all but the excluded ones', { eventTypes: ['mcp_tools_list'], excludeEventTypes: ['mcp_tools_list'] }, []],
  ])('has %s', async (_name, settings, expected) => {
    const server = await run(audit(settings), {}, { good, gone: good });
    await (await connect(server)).ask('tools/list');
    await server.stop();
    expect(server.audit.map(({ type }) => type)).toEqual(expected);
    expect(server.audit.every(({ component }) => component === 'desk')).toBe(true);
  });

  it('is written to a file, and an unwritable file prevents the start', async () => {
    const logFile = join(folder, 'none', 'audit.log');
    await expect(run(audit({ logFile }))).rejects.toMatchObject({ code: 'vmcp-audit-file-unwritable' });
  });

  it.each([
    ['calls go on', undefined, 200],
    ['calls are refused if the configuration requires it', 'refuse', 503],
  ] as const)('cannot be written on a full disk: %s, and health is answered', async (_name, auditFailure, status) => {
    const server = await run({ ...audit({ logFile: '/dev/full' }), auditFailure }, {}, { good, gone: good });
    const client = await connect(server);
    await server.written('audit events cannot be written');
    expect((await client.post({ jsonrpc: '2.0', id: 7, method: 'tools/list' })).status).toBe(status);
    if (auditFailure === 'refuse') await server.written('"audit-unwritable"');
    expect((await get(`${server.origin}/health`)).status).toBe(200);
  });
});

it('a template with a wrong path to the answer of a person is reported at the start and by validate', async () => {
  const steps = [
    { id: 'ask', type: 'elicitation', message: 'Where?', schema: { type: 'object', properties: { room: {} } } },
    {
      id: 'book',
      type: 'tool',
      tool: 'good.echo',
      dependsOn: ['ask'],
      arguments: { at: '{{.steps.ask.output.room}}' },
    },
  ] as const;
  const compositeTools = [{ name: 'book', description: 'Books.', steps: [...steps] }] as unknown as NonNullable<
    VmcpConfig['compositeTools']
  >;
  const server = await run({ compositeTools }, {}, { good });
  await server.written('vmcp-workflow-doubtful');
  await server.written('read .steps.ask.output.content.room');
  const file = join(folder, 'book.yaml');
  writeFileSync(file, formatVmcpConfig(configOf({ good }, { compositeTools })));
  expect(checkVirtualConfig(createWatchedFiles(), file)).toEqual([
    expect.stringMatching(/^\/compositeTools\/0\/steps\/1\/arguments\/at: .*read \.steps\.ask\.output\.content\.room$/),
  ]);
});

it('a policy uses the name that clients see', async () => {
  const policies = ['permit(principal, action == Action::"call_tool", resource == Tool::"good_echo");'];
  const server = await run(
    {
      incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } },
      ...operational({ partialFailureMode: 'best_effort' }),
    },
    {},
    { good, gone: good },
  );
  const client = await connect(server);
  expect((await client.ask('tools/list')).tools.map(({ name }: { name: string }) => name)).toEqual(['good_echo']);
  expect((await client.ask('tools/call', { name: 'good_echo' })).content).toBeDefined();
  const refused = await postTo(
    server.url,
    { id: 2, method: 'tools/call', params: { name: 'gone_echo' } },
    client.headers,
  );
  expect(refused.status).toBe(403);
});
