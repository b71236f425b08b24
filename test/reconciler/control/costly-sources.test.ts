// `skep run` beside a source that is made to take all time or memory there is: the others' changes are made meanwhile, and what the
// source declared last stays.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { costlyRules, costlyText } from '../../harness/costly.ts';
import type { TestRepository } from '../../harness/git-server.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { type Keeper, startKeeper } from './keeper.ts';

let world: World;
let team: TestRepository;
let keeper: Keeper | undefined;

beforeEach(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  team = world.git.createRepository('team.git');
});

afterEach(async () => {
  await keeper?.stop();
  keeper = undefined;
  await world.close();
});

function settings(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {value: ${value}}\n`;
}

test.each([
  ['2 MB of CEL', costlyRules],
  ['a YAML file of 4 MB', costlyText],
])('%s delays nobody, and the last good commit of their source is kept up', async (_what, costly) => {
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'one') });
  team.commit({ 'cluster/t.yaml': settings('t', 'one') });
  keeper = await startKeeper(world, {
    schedule: '* * * * * *',
    sources: [
      { name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' },
      { name: 'team', repository: `${world.git.url}/team.git`, branch: 'main', path: 'cluster' },
    ],
  });
  await keeper.said('ConfigMap/t created');
  team.commit({ 'cluster/costly.yaml': costly(), 'cluster/t.yaml': undefined });
  const from = keeper.output().length;
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'two') });
  await keeper.said('ConfigMap/a configured', from);
  await keeper.said('source-too-costly: source team: reading cluster/costly.yaml', from);
  expect(keeper.output().slice(from)).not.toContain('ConfigMap/t deleted');
  team.commit({ 'cluster/costly.yaml': undefined, 'cluster/u.yaml': settings('u', 'one') });
  await keeper.said('ConfigMap/t deleted', from);
});
