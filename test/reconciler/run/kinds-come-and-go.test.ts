// Kinds that are installed, removed and installed again while one process keeps running.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { crd } from '#reconciler/kinds/crd.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';
import { NAMESPACE, publish, WIDGETS } from './fleet.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUPS = `${DEFINITIONS}/mcpgroups.${API_GROUP}`;
const WIDGET = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: tools}\n';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

async function done(): Promise<string[]> {
  const { outcomes, problems } = await world.run({ waitSeconds: 0 });
  return [
    ...outcomes.map(({ action, resource }) => `${action} ${formatId(resource)}`),
    ...problems.map(({ code }) => code),
  ];
}

test('a kind that is installed later is seen by the next run of the same process', async () => {
  publish(world.fleet, {});
  await world.cluster.send('DELETE', GROUPS);
  await eventually(
    () => world.cluster.send('GET', GROUPS),
    ({ status }) => status === 404,
  );
  expect(await done()).toEqual(['created Namespace/tools', 'kind-not-served']);
  for (const kind of KINDS)
    await world.cluster.apply(`${DEFINITIONS}/${kind.plural}.${API_GROUP}`, crd(kind, API_GROUP));
  expect(await eventually(done, (lines) => !lines.includes('kind-not-served'))).toEqual([
    'created tools/MCPGroup/team',
  ]);
});

test('a kind that somebody else has defined in the cluster is checked by that definition, and applied', async () => {
  const gadgets = WIDGETS.replaceAll('widget', 'gadget')
    .replaceAll('Widget', 'Gadget')
    .replace('{type: object}', '{type: object, properties: {size: {type: integer}}}');
  await world.cluster.apply(`${DEFINITIONS}/gadgets.example.com`, parse(gadgets));
  const gadget = (size: string) => WIDGET.replace('Widget', 'Gadget').concat(`size: ${size}\n`);
  world.fleet.commit({ 'cluster/base.yaml': NAMESPACE, 'cluster/g.yaml': gadget('large') });
  expect(await eventually(done, (lines) => !lines.includes('unknown-kind'))).toContain('schema-type');
  world.fleet.commit({ 'cluster/g.yaml': gadget('3') });
  expect(await done()).toContain('created tools/Gadget/w');
  world.fleet.commit({ 'cluster/g.yaml': undefined });
  await done();
});

test('a definition and its objects come in one run', async () => {
  const gizmos = WIDGETS.replaceAll('widget', 'gizmo').replaceAll('Widget', 'Gizmo');
  const gizmo = WIDGET.replace('Widget', 'Gizmo');
  world.fleet.commit({ 'cluster/base.yaml': NAMESPACE, 'cluster/gizmos.yaml': gizmos, 'cluster/g.yaml': gizmo });
  const { problems } = await world.plan({ waitSeconds: 0 });
  expect(problems.map(({ code, severity }) => [code, severity])).toEqual([['kind-not-served', 'warning']]);
  expect(await done()).toEqual(['created CustomResourceDefinition/gizmos.example.com', 'created tools/Gizmo/w']);
  world.fleet.commit({ 'cluster/gizmos.yaml': undefined, 'cluster/g.yaml': undefined });
  await done();
});

test('a kind that is not served for a while is not forgotten: what Git gave up meanwhile goes when it is back', async () => {
  world.fleet.commit({ 'cluster/base.yaml': NAMESPACE, 'cluster/crd.yaml': WIDGETS, 'cluster/w.yaml': WIDGET });
  expect(await done()).toContain('created tools/Widget/w');
  const { send } = world.cluster;
  const unserve = async (served: boolean) => {
    const { body } = await send('GET', `${DEFINITIONS}/widgets.example.com`);
    const versions = body.spec.versions.map((version: object) => ({ ...version, served }));
    await send('PUT', `${DEFINITIONS}/widgets.example.com`, { body: { ...body, spec: { ...body.spec, versions } } });
  };
  world.fleet.commit({ 'cluster/crd.yaml': undefined, 'cluster/w.yaml': undefined });
  await unserve(false);
  // The definition must not go: it would take its objects along.
  const hidden = await eventually(
    () => world.run({ waitSeconds: 0, prune: false }),
    ({ failures }) => failures.length === 0,
  );
  expect(hidden.outcomes).toEqual([]);
  await unserve(true);
  expect(await eventually(done, (lines) => lines.length > 0)).toEqual([
    'deleted tools/Widget/w',
    'deleted CustomResourceDefinition/widgets.example.com',
  ]);
});
