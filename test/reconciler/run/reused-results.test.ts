// A process that stays uses results of earlier runs again, and makes no run if nothing that runs read has changed. After each change
// that something depends on, a run that starts from nothing finds nothing left to write.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

const GROUP = 'toolhive.stacklok.dev';
const NAMESPACE = 'docs';
const folder = mkdtempSync(join(tmpdir(), 'skep-reused-'));
/** The last version of each object that watches have reported, by key. */
const reported = new Map<string, number>();
const deleted = new Set<string>();
let server: TestCluster;
let others: ConnectedCluster;
let staying: Instance;

beforeAll(async () => {
  server = await startTestCluster({ workloadsReadyAfterMs: 1 });
  const { kubeconfigPath: kubeconfig } = server;
  others = await connectCluster({
    kubeconfig,
    fieldManager: 'kubectl',
    concurrency: 16,
    version: 'test',
    clock: systemClock,
  });
  for (const kind of KINDS) await others.apply(crd(kind, GROUP), { force: true });
  others.refresh();
  await others.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, { force: true });
  for (const object of FLEET) await others.apply(object, { force: true });
  const ignore = (): void => undefined;
  const fail = (error: unknown): void => {
    throw error;
  };
  const changed = (changes: readonly { before?: KubeObject | undefined; after?: KubeObject | undefined }[]): void => {
    for (const { before, after } of changes) {
      if (after === undefined) deleted.add(`${before?.metadata.uid}`);
      else reported.set(keyOf(idOf(after)), Number(after.metadata.resourceVersion));
    }
  };
  const keepsLists = { changed, lost: ignore, missed: ignore, say: ignore, fail };
  staying = await openInstance(configuration(), ignore, {}, undefined, { keepsLists });
  await settle();
});

afterAll(async () => {
  await staying.close();
  await others.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function configuration() {
  const settings = {
    apiGroup: GROUP,
    sources: [],
    scope: 'cluster',
    cluster: { kubeconfig: server.kubeconfigPath },
    stateDir: join(folder, 'state'),
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
  };
  return readConfig({ text: JSON.stringify(settings), file: 'skep.yaml', environment: {} });
}

function own(kind: string, name: string, spec: KubeObject['spec'], annotations = {}): KubeObject {
  return { apiVersion: `${GROUP}/v1beta1`, kind, metadata: { name, namespace: NAMESPACE, annotations }, spec };
}

function plain(kind: string, name: string, content: Partial<KubeObject>): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, namespace: NAMESPACE }, ...content };
}

const SERVER = { image: 'images.example.com/clock:1', transport: 'streamable-http', mcpPort: 8080 };
const LINKED = {
  ...SERVER,
  groupRef: { name: 'team' },
  oidcConfigRef: { name: 'company', audience: 'clock' },
  toolConfigRef: { name: 'few' },
  authzConfig: { type: 'configMap', configMap: { name: 'rules', key: 'rules.json' } },
  secrets: [{ name: 'credentials', key: 'token', targetEnvName: 'TOKEN' }],
};
const PERMIT = 'permit(principal, action, resource);';
const clock = own('MCPServer', 'clock', LINKED);
const single = own('MCPServer', 'single', SERVER);
const team = own('MCPGroup', 'team', {});
const oidc = (issuer: string) => own('MCPOIDCConfig', 'company', { type: 'inline', inline: { issuer } });
const tools = (tool: string) => own('MCPToolConfig', 'few', { toolsFilter: [tool] });
const secret = (token: string) => plain('Secret', 'credentials', { stringData: { token } });
const rules = (policy: string) =>
  plain('ConfigMap', 'rules', {
    data: {
      'rules.json': JSON.stringify({
        version: '1.0',
        type: 'cedarv1',
        cedar: { policies: [policy], entities_json: '[]' },
      }),
    },
  });
const FLEET = [
  secret('one'),
  rules(PERMIT),
  team,
  oidc('https://login.example.com'),
  tools('tell_time'),
  clock,
  single,
  own('VirtualMCPServer', 'all', { groupRef: { name: 'team' }, incomingAuth: { type: 'anonymous' } }),
];

/** Runs until the process says that a run would do nothing. */
async function settle(): Promise<void> {
  await eventually(
    async () => {
      if ((await staying.repeat('probe')) !== undefined) return 'quiet';
      await staying.run({ waitSeconds: 0 });
      return 'ran';
    },
    (state) => state === 'quiet',
  );
}

/** Writes of a run that has nothing of earlier ones, by method. */
async function writesFromNothing(): Promise<{
  readonly writes: readonly string[];
  readonly changed: readonly string[];
}> {
  const writes: string[] = [];
  const requested = ({ method }: { readonly method: string }): void => {
    // The record of a run is replaced (PUT): a process that starts has told nothing yet.
    if (method !== 'GET' && method !== 'PUT') writes.push(method);
  };
  const fresh = await openInstance(configuration(), () => undefined, { requested });
  try {
    const { outcomes } = await fresh.run({ waitSeconds: 0 });
    return { writes, changed: outcomes.map(({ action, resource }) => `${action} ${resource.kind} ${resource.name}`) };
  } finally {
    await fresh.close();
  }
}

async function apply(object: KubeObject): Promise<void> {
  const stored = await others.apply(object, { force: true });
  const version = Number(stored.metadata.resourceVersion);
  await eventually(
    async () => reported.get(keyOf(idOf(stored))) ?? 0,
    (known) => known >= version,
  );
}

async function remove(object: KubeObject): Promise<void> {
  const { metadata } = (await others.get(idOf(object))) ?? object;
  await others.remove(idOf(object), metadata.uid ?? '');
  await eventually(
    async () => deleted.has(`${metadata.uid}`),
    (isReported) => isReported,
  );
}

async function live(kind: string, name: string): Promise<KubeObject> {
  const apiVersion = kind.startsWith('MCP') || kind.startsWith('Virtual') ? `${GROUP}/v1beta1` : 'apps/v1';
  const found = await others.get({ apiVersion, kind, namespace: NAMESPACE, name });
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

async function scale(replicas: number): Promise<void> {
  const { apiVersion, kind, metadata } = await live('Deployment', 'single');
  const { name, namespace } = metadata;
  await apply({ apiVersion, kind, metadata: { name, namespace }, spec: { replicas } });
}

async function drift(): Promise<void> {
  const { apiVersion, kind, metadata } = await live('Deployment', 'single');
  const { name, namespace } = metadata;
  await apply({ apiVersion, kind, metadata: { name, namespace, labels: { 'skep.dev/owner': 'drifted' } } });
}

async function replaceSingle(): Promise<void> {
  await remove(single);
  await apply(single);
}

const STEPS: readonly (readonly [reason: string, change: () => Promise<void>])[] = [
  ['the resource itself', () => apply(own('MCPServer', 'clock', { ...LINKED, image: 'images.example.com/clock:2' }))],
  ['contents of a Secret of others', () => apply(secret('two'))],
  ['a ConfigMap of others', () => apply(rules(`@id("a") ${PERMIT}`))],
  ['settings of a login', () => apply(oidc('https://other.example.com'))],
  ['settings of tools', () => apply(tools('tell_date'))],
  ['a Secret that is deleted', () => remove(secret(''))],
  ['a Secret that comes back', () => apply(secret('three'))],
  ['a group that is deleted', () => remove(team)],
  ['a group that comes back', () => apply(team)],
  ['a server that joins a group', () => apply(own('MCPServer', 'single', { ...SERVER, groupRef: { name: 'team' } }))],
  ['a new server', () => apply(own('MCPServer', 'third', { ...SERVER, groupRef: { name: 'team' } }))],
  ['a server that is deleted', () => remove(own('MCPServer', 'third', SERVER))],
  ['a workload that someone stops', () => scale(0)],
  ['a workload that someone starts', () => scale(1)],
  ['an owner that is another one', replaceSingle],
  [
    'an annotation that leaves it alone',
    () => apply(own('MCPServer', 'single', SERVER, { 'skep.dev/reconcile': 'disabled' })),
  ],
  ['the end of that', () => apply(single)],
  ['settings that cannot be used', () => apply(rules('permit('))],
  ['settings that can be used again', () => apply(rules(PERMIT))],
  ['drift of a child', drift],
  ['a child that is deleted', async () => remove(await live('StatefulSet', 'single'))],
];

test.each(STEPS)('after a change of %s a run from nothing has nothing to write', async (_reason, change) => {
  await change();
  await settle();
  expect(await writesFromNothing()).toEqual({ writes: [], changed: [] });
});

test('a run that nothing has made necessary is not made, and one that is made as proof finds the same', async () => {
  await settle();
  const differing: string[] = [];
  staying.deps.cluster.listAgain();
  staying.prove((stage, key) => void differing.push(`${stage} ${key}`));
  const { outcomes } = await staying.run({ waitSeconds: 0 });
  expect([outcomes, differing]).toEqual([[], []]);
});
