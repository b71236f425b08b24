// An object that moves to another namespace: the old one goes only where the new one has come.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOfOutcome } from '#reconciler/report/text.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

function settings(namespace: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ${namespace}}\ndata: {a: b}\n`;
}

test('a move into a namespace that does not exist leaves the object where it is', async () => {
  world.fleet.commit({ 'cluster/settings.yaml': settings('default') });
  await world.run();
  world.fleet.commit({ 'cluster/settings.yaml': settings('nowhere') });
  const { outcomes, plan } = await world.run();
  expect(outcomes.map(textOfOutcome)).toEqual([
    expect.stringMatching(/^nowhere\/ConfigMap\/settings failed: .*namespaces "nowhere" not found/),
  ]);
  expect(plan.waiting.map(({ reasons }) => reasons)).toEqual([
    [
      'nowhere/ConfigMap/settings is refused by the API server: it may be the new name of an object that would be deleted',
    ],
  ]);
});

test('the next commit that names a real one moves it', async () => {
  world.fleet.commit({ 'cluster/settings.yaml': settings('kube-public') });
  const { outcomes } = await world.run();
  expect(outcomes.map(textOfOutcome)).toEqual([
    'kube-public/ConfigMap/settings created',
    'default/ConfigMap/settings deleted',
  ]);
});
