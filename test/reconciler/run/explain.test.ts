// Why each object is, or is not, changed or deleted: every sort of reason once.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { linesOfExplanations } from '#reconciler/report/explanations.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function settings(name: string, value: string, annotations = ''): string {
  const metadata = `{name: ${name}, namespace: tools${annotations}}`;
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\ndata: {a: ${value}}\n`;
}

test('each object is explained', async () => {
  world.fleet.commit({
    ...fleetFiles({ clock: '1.0.0', news: '1.0.0' }),
    'cluster/changed.yaml': settings('changed', 'one'),
    'cluster/kept.yaml': settings('kept', 'one', ', annotations: {skep.dev/prune: disabled}'),
    'cluster/invalid.yaml': settings('invalid', 'one'),
    'cluster/same.yaml': settings('same', 'one'),
    'cluster/gone.yaml': settings('gone', 'one'),
  });
  await world.run({ waitSeconds: 0 });
  world.fleet.commit({
    ...fleetFiles({ clock: '1.0.0' }),
    'cluster/news.yaml': undefined,
    'cluster/changed.yaml': settings('changed', 'two'),
    'cluster/kept.yaml': undefined,
    'cluster/gone.yaml': undefined,
    'cluster/invalid.yaml': settings('invalid', '[]'),
    'cluster/fresh.yaml': settings('fresh', 'one'),
    'cluster/clock.yaml': fleetFiles({ clock: '1.0.0' })['cluster/clock.yaml']?.replace(
      'groupRef: team',
      'groupRef: none',
    ),
  });
  const kinds = ['ConfigMap', 'MCPServer', 'Namespace'];
  const explained = (await world.explain()).filter(({ resource }) => kinds.includes(resource.kind));
  const reported = linesOfExplanations(explained).map((line) => line.replace(/[0-9a-f]{16}/, 'HASH'));
  expect(reported.join('\n')).toMatchInlineSnapshot(`
    "Namespace/tools: unchanged
      it is in the cluster as it is declared
      declared at cluster/base.yaml:1:1 (source fleet)
    tools/ConfigMap/changed: updated
      these differ: /data/a
      declared at cluster/changed.yaml:1:1 (source fleet)
    tools/ConfigMap/clock-runconfig: held
      the children of mcpserver.clock are not changed in this run
      child of tools/MCPServer/clock, declared at cluster/clock.yaml:1:1 (source fleet)
    tools/ConfigMap/fresh: created
      it is not in the cluster yet
      declared at cluster/fresh.yaml:1:1 (source fleet)
    tools/ConfigMap/gone: held
      its deletion waits for approval
      tools/ConfigMap/invalid is invalid (and 1 more resource has a problem): one of them may be the new name of an object that would be deleted
      to delete it, and all that waits with it: skep approve HASH
    tools/ConfigMap/invalid: held
      its manifest, or one that it depends on, is invalid
      declared at cluster/invalid.yaml:1:1 (source fleet)
    tools/ConfigMap/kept: held
      it has skep.dev/prune: disabled
    tools/ConfigMap/news-runconfig: held
      its deletion waits for approval
      tools/ConfigMap/invalid is invalid (and 1 more resource has a problem): one of them may be the new name of an object that would be deleted
      to delete it, and all that waits with it: skep approve HASH
      child of tools/MCPServer/news
    tools/ConfigMap/same: unchanged
      it is in the cluster as it is declared
      declared at cluster/same.yaml:1:1 (source fleet)
    tools/MCPServer/clock: updated
      these differ: /spec/groupRef
      its children are kept unchanged: no MCPGroup "none" in namespace tools, neither in Git nor in the cluster
      declared at cluster/clock.yaml:1:1 (source fleet)
    tools/MCPServer/news: held
      its deletion waits for approval
      tools/ConfigMap/invalid is invalid (and 1 more resource has a problem): one of them may be the new name of an object that would be deleted
      to delete it, and all that waits with it: skep approve HASH"
  `);
});

test('what waits for approval is explained by the limits, what could not be listed by that', async () => {
  const { faults } = world.cluster.cluster;
  const waiting = await world.explain({ limits: { maxDeletes: 0, maxDeletesPercent: 100 } });
  expect(waiting.find(({ resource }) => resource.name === 'gone')).toMatchObject({
    what: 'held',
    because: [
      'its deletion waits for approval',
      expect.stringMatching(/^tools\/ConfigMap\/invalid is invalid \(and 1 more resource has a problem\)/),
      expect.stringMatching(/^\d+ deletions, more than apply\.maxDeletes allows \(0\)$/),
      expect.stringMatching(/^to delete it, and all that waits with it: skep approve [0-9a-f]{16}$/),
    ],
  });
  faults.add({ match: { verb: 'list', resource: 'configmaps' }, action: { status: 500 } });
  const blind = await world.explain();
  faults.clear();
  expect(blind.find(({ resource }) => resource.name === 'same')).toMatchObject({
    what: 'held',
    because: ['ConfigMap could not be listed, so its state is unknown'],
    declared: { source: 'fleet', place: { file: 'cluster/same.yaml', line: 1, column: 1 } },
  });
});

test('what goes is explained by who declared it', async () => {
  world.fleet.commit({ 'cluster/invalid.yaml': settings('invalid', 'one'), ...fleetFiles({ clock: '1.0.0' }) });
  const { because = [] } = (await world.explain()).find(({ resource }) => resource.name === 'gone') ?? {};
  expect(because).toEqual([
    'no source declares it any more (source fleet did)',
    'it belongs to this instance, which has applied it',
    'the deletions are within the limits',
  ]);
});
