// A fleet that is written in the spelling of v1alpha1, then in that of v1beta1, then in both: the children stay the same, and
// a run that follows writes nothing. The tests are one story, told in order.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { formatProblem } from '#std/problem.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { openServer, type SuiteServer } from './server.ts';

let server: SuiteServer;
let fleet: Fleet;
let namespace: string;

beforeAll(async () => {
  server = await openServer();
  fleet = await openFleet(server);
  namespace = `${fleet.home}-versions`;
  server.later({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
});

afterAll(async () => {
  await fleet?.close();
  await server.close();
});

type Version = 'v1alpha1' | 'v1beta1';
type Specs = Readonly<Record<Version, string>>;

const TOOLS: Specs = { v1alpha1: 'groupRef: tools', v1beta1: 'groupRef: {name: tools}' };
const REMOTE = 'oidcConfig: {type: inline, inline: {issuer: "https://login.example.com", audience: a}}';

const SPECS: Readonly<Record<string, Specs>> = {
  'MCPGroup tools': { v1alpha1: '{}', v1beta1: '{}' },
  'MCPServer clock': {
    v1alpha1: `{image: "example.com/clock:1", ${TOOLS.v1alpha1}}`,
    v1beta1: `{image: "example.com/clock:1", ${TOOLS.v1beta1}}`,
  },
  'MCPRemoteProxy almanac': {
    v1alpha1: `{remoteURL: "https://mcp.example.com/mcp", ${TOOLS.v1alpha1}, ${REMOTE}}`,
    v1beta1: `{remoteUrl: "https://mcp.example.com/mcp", ${TOOLS.v1beta1}, ${REMOTE}}`,
  },
  'VirtualMCPServer office': {
    v1alpha1: '{incomingAuth: {type: anonymous}, config: {groupRef: tools}}',
    v1beta1: '{incomingAuth: {type: anonymous}, groupRef: {name: tools}}',
  },
};

/** Every resource in the version that is given for it. */
function commit(versionOf: (name: string) => Version): void {
  const files = Object.entries(SPECS).map(([resource, specs]): [string, string] => {
    const [kind = '', name = ''] = resource.split(' ');
    const version = versionOf(resource);
    const head = `apiVersion: ${fleet.group}/${version}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}`;
    return [`${name}.yaml`, `${head}\nspec: ${specs[version]}\n`];
  });
  const own = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`;
  fleet.git.commit({ ...Object.fromEntries(files), 'namespace.yaml': own });
}

async function run(): Promise<RunResult> {
  const result = await fleet.run();
  expect(result.problems.map(formatProblem)).toEqual([]);
  expect(result.failures.map(({ message }) => message)).toEqual([]);
  expect(result.outcomes.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
  return result;
}

async function resource(kind: string, name: string, version: Version): Promise<KubeObject> {
  const found = await fleet.client.get({ apiVersion: `${fleet.group}/${version}`, kind, namespace, name });
  if (found === undefined) throw new Error(`${kind} ${name} does not exist`);
  return found;
}

/** Generations and contents of the children: another version of an owner changes nothing in them but its reference. */
async function children(): Promise<Record<string, unknown>> {
  const found = await fleet.members();
  const own = [...found].filter(([, { apiVersion }]) => !apiVersion.startsWith(fleet.group));
  return Object.fromEntries(own.map(([id, { metadata, spec, data }]) => [id, [metadata.generation, spec, data]]));
}

let before: Record<string, unknown>;

test('a fleet in the spelling of v1alpha1 is made', async () => {
  commit(() => 'v1alpha1');
  await run();
  before = await children();
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([`${namespace}/Deployment/clock`, `${namespace}/Deployment/office`]),
  );
  expect((await run()).outcomes).toEqual([]);
});

test('in the spelling of v1beta1, its children are the same', async () => {
  commit(() => 'v1beta1');
  const { outcomes } = await run();
  expect(outcomes.length).toBeGreaterThan(0);
  expect(await children()).toEqual(before);
});

test('each resource has the spelling of its manifest alone, read in either version', async () => {
  for (const version of ['v1alpha1', 'v1beta1'] as const) {
    const proxy = await resource('MCPRemoteProxy', 'almanac', version);
    expect(proxy.spec).toMatchObject({ remoteUrl: 'https://mcp.example.com/mcp', groupRef: { name: 'tools' } });
    expect(proxy.spec).not.toHaveProperty('remoteURL');
    const virtual = await resource('VirtualMCPServer', 'office', version);
    expect(virtual.spec).toMatchObject({ groupRef: { name: 'tools' } });
    expect(virtual.spec).not.toHaveProperty('config.groupRef');
    const entries = proxy.metadata.managedFields?.filter(({ subresource }) => subresource === undefined) ?? [];
    expect(entries.map(({ apiVersion, operation }) => [apiVersion, operation])).toEqual([
      [`${fleet.group}/v1beta1`, 'Apply'],
    ]);
  }
});

test('the group has its members, and a run that follows writes nothing', async () => {
  const group = await resource('MCPGroup', 'tools', 'v1beta1');
  expect(group.status).toMatchObject({ servers: ['clock'], remoteProxies: ['almanac'] });
  expect((await run()).outcomes).toEqual([]);
});

test('a fleet with manifests of both versions is the same, and a run that follows writes nothing', async () => {
  commit((name) => (name.startsWith('MCPServer') || name.startsWith('VirtualMCPServer') ? 'v1alpha1' : 'v1beta1'));
  await run();
  expect(await children()).toEqual(before);
  expect((await resource('MCPServer', 'clock', 'v1beta1')).spec).toMatchObject({ groupRef: 'tools' });
  const group = await resource('MCPGroup', 'tools', 'v1beta1');
  expect(group.status).toMatchObject({ servers: ['clock'], remoteProxies: ['almanac'] });
  expect((await run()).outcomes).toEqual([]);
});

test('resources of one kind in two versions: each keeps its own, and a run that follows writes nothing', async () => {
  fleet.git.commit({
    'watch.yaml': `apiVersion: ${fleet.group}/v1beta1\nkind: MCPServer\nmetadata: {name: watch, namespace: ${namespace}}\nspec: {image: "example.com/watch:1", groupRef: {name: tools}}\n`,
  });
  await run();
  const group = await resource('MCPGroup', 'tools', 'v1beta1');
  expect(group.status).toMatchObject({ servers: ['clock', 'watch'] });
  expect((await run()).outcomes).toEqual([]);
  commit(() => 'v1beta1');
  await run();
  expect((await resource('MCPServer', 'clock', 'v1beta1')).spec).toMatchObject({ groupRef: { name: 'tools' } });
});
