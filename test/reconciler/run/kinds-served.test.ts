// Kinds that the cluster serves and of which no schema is bundled: the server's discovery decides in runs.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodeOf } from '#reconciler/run/result.ts';
import type { RunDeps } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { publish } from './fleet.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** `versions`: by name, with the words of a size in each; the first one is stored. */
async function define(group: string, plural: string, kind: string, versions: readonly string[]): Promise<void> {
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'https://example.com' } },
    spec: {
      group,
      names: { plural, kind },
      scope: 'Namespaced',
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema },
      })),
    },
  };
  await world.client.apply(definition, { force: true });
}

function object(apiVersion: string, kind: string, name: string): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: tools}\nspec: {size: 1}\n`;
}

test('a kind of a built-in group that only the server knows is applied unchecked, and suspends no deletions', async () => {
  await define('networking.k8s.io', 'lanes', 'Lane', ['v2']);
  publish(world.fleet, { wiki: '1.0.0' });
  world.fleet.commit({ 'cluster/lane.yaml': object('networking.k8s.io/v2', 'Lane', 'one'), 'cluster/two.yaml': TWO });
  const result = await world.run({ waitSeconds: 0 });
  expect(result.problems.map(({ code, severity }) => [code, severity])).toEqual([['kind-not-checked', 'warning']]);
  expect(exitCodeOf(result)).toBe(0);
  world.fleet.commit({ 'cluster/two.yaml': undefined });
  const { outcomes } = await world.run({ waitSeconds: 0 });
  expect(outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => resource.name)).toEqual(['two']);
  expect((await world.run({ waitSeconds: 0 })).outcomes).toEqual([]);
});

const TWO = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: tools}\ndata: {a: b}\n';

test('an object that is declared in a version that the server does not prefer is compared in that version', async () => {
  await define('lanes.example.com', 'roads', 'Road', ['v2', 'v1']);
  world.fleet.commit({ 'cluster/road.yaml': object('lanes.example.com/v1', 'Road', 'one') });
  const first = await world.run({ waitSeconds: 0 });
  expect(first.outcomes.map(({ action, resource }) => `${resource.kind} ${action}`)).toContain('Road created');
  const listed: string[] = [];
  const cluster: RunDeps['cluster'] = {
    ...world.client,
    list(kind, ...rest) {
      if (kind.kind === 'Road') listed.push(kind.apiVersion);
      return world.client.list(kind, ...rest);
    },
  };
  const second = await world.run({ waitSeconds: 0, cluster });
  expect([second.outcomes, second.plan.batches]).toEqual([[], []]);
  // Begun while nothing was read of the source.
  expect(listed).toEqual(['lanes.example.com/v2', 'lanes.example.com/v1']);
  const broken: RunDeps['cluster'] = {
    ...world.client,
    list(kind, ...rest) {
      if (kind.apiVersion !== 'lanes.example.com/v2') return world.client.list(kind, ...rest);
      return Promise.reject(new Failure('cluster-unexpected-answer', 'no conversion to v2'));
    },
  };
  const third = await world.run({ waitSeconds: 0, cluster: broken });
  expect([third.failures, third.outcomes, third.plan.batches]).toEqual([[], [], []]);
});

test('a kind that nobody serves is unknown, and suspends the deletions of its source', async () => {
  world.fleet.commit({ 'cluster/lane.yaml': object('networking.k8s.io/v3', 'Lane', 'one') });
  const result = await world.run({ waitSeconds: 0 });
  expect(result.problems.map(({ code }) => code)).toContain('unknown-kind');
  expect(result.outcomes.filter(({ action }) => action === 'deleted')).toEqual([]);
});
