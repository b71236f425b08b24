// `skep run` beside a source that is made to take all time or memory there is: the others' changes are made meanwhile, and what the
// source declared last stays.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestRepository } from '../harness/git-server.ts';
import { startWorld, type World } from '../harness/world.ts';
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

/** 2 MB of rules, and an object that all of them are evaluated for. */
function costlyRules(): string {
  const rule = Array.from({ length: 400 }, (_, i) => `self.a${i}.size() < 100 || self.b.all(x, x.startsWith('q${i}'))`);
  const rules = Array.from({ length: 70 }, (_, i) => ({
    rule: rule.join(' && ').replaceAll('q', `q${i}_`),
    message: 'no',
  }));
  const strings = Array.from({ length: 400 }, (_, i) => [`a${i}`, { type: 'string', maxLength: 200 }]);
  const b = { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } };
  const properties = { ...Object.fromEntries(strings), b };
  const spec = { type: 'object', properties, 'x-kubernetes-validations': rules };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things', singular: 'thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
  const values = Object.fromEntries(strings.map(([name]) => [name, 'v'.repeat(150)]));
  const thing = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing', namespace: 'default' },
    spec: { ...values, b: ['x'] },
  };
  return `${JSON.stringify(definition)}\n---\n${JSON.stringify(thing)}\n`;
}

/** Few bytes, and hundreds of times as many where they are read. */
function costlyText(): string {
  const items = Array.from({ length: 180_000 }, (_, i) => `  k${i}: {a: [1, 2]}`);
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: costly, namespace: default}\ndata:\n${items.join('\n')}\n`;
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
