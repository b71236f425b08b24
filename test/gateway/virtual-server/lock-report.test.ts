// Tests how a virtual server reports differences between backends and their locks: in the cluster, in metrics and in
// the audit.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { lockDigest, readLockTexts, virtualReportName } from '#contracts/tool-lock/report.ts';
import type { ToolLock } from '#contracts/tool-lock/schema.ts';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';
import { startMember, type TestMember } from './member.ts';
import { configOf, operational, runVirtual, type TestedVirtualServer } from './world.ts';

const READ = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' } };
const SENT = { ...READ, description: 'Reads, and sends away.' };
const CONFIG_MAP = `/api/v1/namespaces/default/configmaps/${virtualReportName('office')}`;
const TELEMETRY = {
  ...{ serviceName: 'office', tracingEnabled: false, metricsEnabled: false, samplingRate: '1', insecure: false },
  ...{ enablePrometheusMetricsPath: true, useLegacyAttributes: false },
};

const lockOf = (tools: ToolLock['tools']) => heldLock('enforce', { server: { kind: 'MCPServerEntry' }, tools });

let cluster: TestCluster;
let members: Readonly<Record<string, TestMember>>;
let server: TestedVirtualServer;

beforeAll(async () => {
  cluster = await startTestCluster();
  const metadata = { name: virtualReportName('office'), namespace: 'default' };
  expect((await cluster.apply(CONFIG_MAP, { apiVersion: 'v1', kind: 'ConfigMap', metadata })).status).toBe(201);
  members = { files: await startMember({ tools: [SENT] }), notes: await startMember({ tools: [READ] }) };
  vi.stubEnv('KUBECONFIG', cluster.kubeconfigPath);
  const environment = {
    KUBECONFIG: cluster.kubeconfigPath,
    [VMCP_ENV.name]: 'office',
    [VMCP_ENV.namespace]: 'default',
  };
  server = await runVirtual(configWith(lockOf([READ])), environment);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  await Promise.all(Object.values(members).map((member) => member.close()));
  await cluster.stop();
});

const drifted = () => server.audit.filter(({ type }) => type === 'mcp_definition_drifted');

function configWith(lock: ReturnType<typeof lockOf>, excludeEventTypes: string[] = []) {
  const kept = { includeRequestData: false, includeResponseData: false, maxDataSize: 0 };
  const audit = { enabled: true as const, component: 'office', excludeEventTypes, ...kept };
  const settings = { ...operational({ healthCheckInterval: '50ms' }), telemetry: TELEMETRY, audit };
  const config = configOf(members, settings);
  return { ...config, backends: config.backends.map((backend) => ({ ...backend, toolsLock: lock })) };
}

const reportOf = async (member: string) => readLockTexts((await cluster.send('GET', CONFIG_MAP)).body.data, member);
const metric = async () =>
  /skep_proxy_definitions_drifted\{.*list="tools".*\} (\d+)/.exec(
    await (await fetch(`${server.origin}/metrics`)).text(),
  )?.[1];

test('each backend is reported with the digest of its lock, and a different definition with its text', async () => {
  const lock = lockDigest(lockOf([READ]));
  await expect.poll(() => reportOf('notes')).toMatchObject({ lock, drifts: [] });
  await expect
    .poll(() => reportOf('files'))
    .toMatchObject({
      lock,
      drifts: [{ list: 'tools', name: 'read', what: 'differs', definition: JSON.stringify(SENT) }],
    });
  expect(await metric()).toBe('1');
  expect(drifted()).toMatchObject([
    { outcome: 'denied', target: { type: 'tools', name: 'read' }, metadata: { extra: { drift: 'differs' } } },
  ]);
});

test('a new lock that accepts the definition replaces the earlier lock in the report', async () => {
  const accepted = lockOf([SENT]);
  server.replace(configWith(accepted));
  await expect
    .poll(() => reportOf('files'), { timeout: 20_000 })
    .toMatchObject({ lock: lockDigest(accepted), drifts: [] });
  expect(await reportOf('notes')).toMatchObject({ lock: lockDigest(accepted), drifts: [{ name: 'read' }] });
  await expect.poll(drifted).toHaveLength(2);
});

test('a different definition causes no audit event after the settings exclude this type', async () => {
  const lock = lockOf([READ]);
  server.replace(configWith(lock, ['mcp_definition_drifted']));
  await expect
    .poll(() => reportOf('files'), { timeout: 20_000 })
    .toMatchObject({ lock: lockDigest(lock), drifts: [{ name: 'read' }] });
  expect(drifted()).toHaveLength(2);
});

test('a removed backend is not in the report', async () => {
  const { backends, ...config } = configWith(lockOf([SENT]));
  server.replace({ ...config, backends: backends.filter(({ name }) => name === 'files') });
  await expect.poll(() => reportOf('notes'), { timeout: 20_000 }).toBeUndefined();
  expect(await metric()).toBe('0');
});
