// A fleet whose objects are of one version is taken over with manifests of the other: the fields that others wrote change
// hands in whichever version they wrote them, so that the old spelling goes with the first run.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { formatProblem } from '#std/problem.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const OIDC = { type: 'inline', inline: { issuer: 'https://login.example.com', audience: 'almanac' } };
const SPECS = {
  v1alpha1: { remoteURL: 'https://mcp.example.com/mcp', groupRef: 'tools', oidcConfig: OIDC },
  v1beta1: { remoteUrl: 'https://mcp.example.com/mcp', groupRef: { name: 'tools' }, oidcConfig: OIDC },
};
type Version = keyof typeof SPECS;

function manifest(version: Version, name: string, spec: object = SPECS[version]) {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: `${API_GROUP}/${version}`, kind: 'MCPRemoteProxy', metadata, spec };
}

const GROUP = {
  apiVersion: `${API_GROUP}/v1beta1`,
  kind: 'MCPGroup',
  metadata: { name: 'tools', namespace: 'default' },
};

async function createByHand(version: Version, name: string): Promise<void> {
  const path = `/apis/${API_GROUP}/${version}/namespaces/default/mcpremoteproxies?fieldManager=kubectl-create`;
  const { status, body } = await world.cluster.send('POST', path, { body: manifest(version, name) });
  expect(status, JSON.stringify(body)).toBe(201);
}

async function living(name: string): Promise<KubeObject> {
  const found = await world.client.get({ ...manifest('v1beta1', name), name, namespace: 'default' });
  if (found === undefined) throw new Error(`${name} does not exist`);
  return found;
}

async function run(): Promise<void> {
  const { problems, failures, outcomes } = await world.run();
  expect(problems.map(formatProblem)).toEqual([]);
  expect(failures.map(({ message }) => message)).toEqual([]);
  expect(outcomes.flatMap(({ error }) => error?.message ?? [])).toEqual([]);
}

test.each([
  { was: 'v1alpha1', is: 'v1beta1', gone: 'remoteURL' },
  { was: 'v1beta1', is: 'v1alpha1', gone: 'remoteUrl' },
] as const)('an object of $was is taken over by a manifest of $is, whose spelling it has then', async (row) => {
  const { was, is, gone } = row;
  const name = `from-${was}`;
  await createByHand(was, name);
  const commit = (spec: object) =>
    world.fleet.commit({
      'cluster/group.yaml': JSON.stringify({ ...GROUP, spec: {} }),
      [`cluster/${name}.yaml`]: JSON.stringify(manifest(is, name, spec)),
    });
  commit(SPECS[is]);
  const { adoptions, refused } = await world.adopt(true);
  expect(refused).toEqual([]);
  expect(adoptions.find(({ resource }) => resource.name === name)?.managers).toEqual(['kubectl-create']);
  await run();
  expect((await living(name)).spec).toMatchObject(SPECS[is]);
  expect((await living(name)).spec).not.toHaveProperty(gone);
  // A rule refuses two spellings that differ: an old one that stays would stand in the way of every later change.
  const moved = Object.fromEntries(
    Object.entries(SPECS[is]).map(([key, value]) => [
      key,
      key.startsWith('remote') ? 'https://mcp.example.com/v2' : value,
    ]),
  );
  commit(moved);
  await run();
  expect((await living(name)).spec).toMatchObject(moved);
});
