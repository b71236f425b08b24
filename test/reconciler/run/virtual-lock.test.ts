// A virtual server whose entry differs from its lock is reported by the condition, one Event, and `skep status`. The virtual
// server runs, and reports into the cluster; under an account of its author it may not.

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { heldLock } from '#contracts/tool-lock/held.ts';
import { readLockReport, virtualReportName } from '#contracts/tool-lock/report.ts';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';
import { startMember, type TestMember } from '../../gateway/virtual-server/member.ts';
import { configOf, runVirtual, type TestedVirtualServer } from '../../gateway/virtual-server/world.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE } from './fleet.ts';

const LOOK_UP = { name: 'look_up', description: 'Looks a day up.', inputSchema: { type: 'object' } };
const SENDS = { ...LOOK_UP, description: 'Looks a day up, and sends it away.' };
const LOCK = heldLock('enforce', { server: { kind: 'MCPServerEntry' }, tools: [LOOK_UP] });
const REPORT = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name: virtualReportName('office') };

let world: World;
let folder: InstanceFolder;
let member: TestMember;
let server: TestedVirtualServer | undefined;

beforeAll(async () => {
  world = await startWorld();
  folder = instanceFolder(world);
  folder.configure({ apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
  member = await startMember({ tools: [SENDS] });
  vi.stubEnv('KUBECONFIG', world.cluster.kubeconfigPath);
});
afterEach(async () => {
  world.cluster.cluster.faults.clear();
  await server?.stop();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await member.close();
  await world.close();
  folder.remove();
});

function commit(account = ''): void {
  world.fleet.commit({
    'cluster/base.yaml': NAMESPACE,
    'cluster/office.yaml': `apiVersion: toolhive.stacklok.dev/v1beta1
kind: VirtualMCPServer
metadata: {name: office, namespace: tools}
spec: {groupRef: {name: team}, incomingAuth: {type: anonymous}${account}}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPGroup
metadata: {name: team, namespace: tools}
spec: {}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPServerEntry
metadata: {name: almanac, namespace: tools, annotations: {skep.dev/tools-lock: enforce}}
spec: {remoteUrl: https://almanac.example.com/mcp, transport: streamable-http, groupRef: {name: team}}
---
apiVersion: skep.dev/v1
kind: ToolLock
metadata: {name: almanac, namespace: tools}
spec: {server: {kind: MCPServerEntry, url: https://almanac.example.com/mcp}, tools: ${JSON.stringify([LOOK_UP])}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: own, namespace: tools}
`,
  });
}

async function startServer(): Promise<TestedVirtualServer> {
  const { backends, ...config } = configOf({ almanac: member });
  const locked = { ...config, backends: backends.map((backend) => ({ ...backend, toolsLock: LOCK })) };
  return runVirtual(locked, {
    KUBECONFIG: world.cluster.kubeconfigPath,
    [VMCP_ENV.name]: 'office',
    [VMCP_ENV.namespace]: 'tools',
  });
}

async function conditionNow(): Promise<JsonObject | undefined> {
  const id = {
    apiVersion: 'toolhive.stacklok.dev/v1beta1',
    kind: 'VirtualMCPServer',
    namespace: 'tools',
    name: 'office',
  };
  const status = (await world.client.get(id))?.status;
  return objectsIn(isObject(status) ? status.conditions : []).find(({ type }) => type === 'ToolsLocked');
}

async function eventsNow(): Promise<readonly string[]> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/tools/events');
  return objectsIn(body.items)
    .filter(({ reason }) => String(reason).startsWith('Definitions'))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

const run = () => folder.use((instance) => instance.run());
const statusText = async () => (await folder.run('status')).stdout;
const HELD_BACK =
  'definitions that differ from the reviewed ones are held back: tool look_up of almanac (differs). See skep lock --diff.';

test('a difference is a condition, one Event and a line of skep status, until it is accepted', async () => {
  commit();
  await run();
  expect(await conditionNow()).toMatchObject({ status: 'Unknown', reason: 'DefinitionsNotRead' });
  expect(await statusText()).not.toContain('reviewed');

  server = await startServer();
  await expect
    .poll(async () => readLockReport((await world.client.get(REPORT))?.data, 'almanac')?.drifts.length, {
      timeout: 20_000,
    })
    .toBe(1);
  await run();
  await run();
  expect(await conditionNow()).toMatchObject({ status: 'False', reason: 'DefinitionsHeldBack', message: HELD_BACK });
  expect(await eventsNow()).toEqual([`Warning DefinitionsHeldBack: ${HELD_BACK}`]);
  expect(await statusText()).toContain(HELD_BACK);

  member.offer({ tools: [LOOK_UP] });
  await expect
    .poll(async () => readLockReport((await world.client.get(REPORT))?.data, 'almanac')?.drifts, { timeout: 25_000 })
    .toEqual([]);
  await run();
  expect(await conditionNow()).toMatchObject({ status: 'True', reason: 'DefinitionsReviewed' });
  expect(await statusText()).not.toContain('reviewed');
}, 90_000);

test('under an account without the right, the log says it once, and the status that nothing is reported', async () => {
  member.change({ tools: [SENDS] });
  commit(', serviceAccount: own');
  await run();
  const { faults } = world.cluster.cluster;
  faults.add({ match: { resource: 'configmaps', name: REPORT.name }, action: { status: 403 } });
  server = await startServer();
  const refused = () => server?.log.filter(({ msg }) => String(msg).includes('are not reported')) ?? [];
  await expect.poll(() => refused().length, { timeout: 20_000 }).toBe(1);
  world.cluster.cluster.resetCounters();
  const attempts = () => JSON.stringify(world.cluster.cluster.counters());
  await expect.poll(attempts, { timeout: 25_000 }).toContain('configmaps');
  expect(refused()).toHaveLength(1);
  expect(server.log.filter(({ code }) => code === 'definition-drifted')).toMatchObject([{ backend: 'almanac' }]);
  faults.clear();
  await run();
  expect(await conditionNow()).toMatchObject({ status: 'Unknown', reason: 'DefinitionsNotReported' });
  expect(await world.client.get(REPORT)).toBeUndefined();
  expect(await statusText()).toContain('skep grants no rights to ServiceAccount own');
}, 90_000);
