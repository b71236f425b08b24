// A server with definitions of an earlier release serves no v1beta1: manifests of it are kept from the server with a message
// that says what to install, and manifests of v1alpha1 are applied.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { type JsonObject, objectsIn } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function group(version: string, name: string): string {
  return `apiVersion: ${API_GROUP}/${version}\nkind: MCPGroup\nmetadata: {name: ${name}, namespace: default}\nspec: {}\n`;
}

test('a version that the server does not serve is a problem of its manifests alone', async () => {
  const kind = KINDS.find((each) => each.kind === 'MCPGroup');
  if (kind === undefined) throw new Error('MCPGroup is one of our kinds');
  const definition = crd(kind, API_GROUP);
  const { versions, ...spec } = definition.spec as JsonObject;
  const old = objectsIn(versions).map((each) => ({ ...each, served: each.name === 'v1alpha1' }));
  await world.client.apply({ ...definition, spec: { ...spec, versions: old } }, { force: true });
  world.client.refresh();
  world.fleet.commit({ 'cluster/old.yaml': group('v1alpha1', 'old'), 'cluster/new.yaml': group('v1beta1', 'new') });
  const { problems, failures } = await world.run();
  expect(failures).toEqual([]);
  expect(problems.map(formatProblem)).toEqual([
    `cluster/new.yaml:2:7: error kind-not-served: the cluster does not serve ${API_GROUP}/v1beta1 MCPGroup: install the CRDs of skep (skep crds | kubectl apply --server-side -f -) (default/MCPGroup/new)`,
  ]);
  const id = { apiVersion: `${API_GROUP}/v1alpha1`, kind: 'MCPGroup', namespace: 'default' };
  expect(await world.client.get({ ...id, name: 'old' })).toBeDefined();
  expect(await world.client.get({ ...id, name: 'new' })).toBeUndefined();
});
