// Of many creations alike the API server is asked about the first ones before anything is written. What it refuses of the others
// fails as itself, and the next run knows of it beforehand.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { exitCodeOf, type RunResult } from '../../src/reconcile/result.ts';
import { formatId } from '../../src/std/problem.ts';
import { startWorld, type World } from '../harness/world.ts';

const MANY = 70;
/** All of them go between the tests. */
const PLENTY = { limits: { maxDeletes: 100, maxDeletesPercent: 100 } };
const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n';

let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});

afterAll(() => world.close());

beforeEach(async () => {
  world.cluster.cluster.faults.clear();
  world.fleet.commit({
    'cluster/base.yaml': `${NAMESPACE}---\n${configMap('first')}`,
    'cluster/many.yaml': '# none\n',
  });
  expect(exitCodeOf(await world.run(PLENTY))).toBe(0);
  world.cluster.cluster.resetCounters();
});

function configMap(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools}\n`;
}

/** c-00, c-01, ...; and the one of before is given up. */
function publishMany(): void {
  const names = Array.from({ length: MANY }, (_, index) => `c-${String(index).padStart(2, '0')}`);
  world.fleet.commit({ 'cluster/base.yaml': NAMESPACE, 'cluster/many.yaml': names.map(configMap).join('---\n') });
}

function refuse(name: string): void {
  world.cluster.cluster.faults.add({ match: { verb: 'apply', resource: 'configmaps', name }, action: { status: 403 } });
}

function named(wanted: string, { outcomes }: RunResult): string[] {
  return outcomes.flatMap(({ action, resource }) => (action === wanted ? formatId(resource) : []));
}

function asked(): number | undefined {
  return world.cluster.cluster.counters().dryRuns.configmaps;
}

test('the first ones of a kind in a namespace stand for the others', async () => {
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), asked()]).toEqual([0, 50]);
  expect(named('created', result).length).toBe(MANY);
  expect(named('deleted', result)).toEqual(['tools/ConfigMap/first']);
});

test('a plan asks about each', async () => {
  publishMany();
  await world.plan(PLENTY);
  expect(asked()).toBe(MANY);
});

test('where one of the first is refused, each of the others is asked about', async () => {
  refuse('c-07');
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), asked()]).toEqual([7, MANY]);
  expect(named('failed', result)).toEqual(['tools/ConfigMap/c-07']);
  expect(named('created', result).length).toBe(MANY - 1);
});

test('one that is refused although the first were not fails alone, deletes nothing, and is known beforehand next time', async () => {
  refuse('c-69');
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), asked()]).toEqual([7, 50]);
  expect(named('failed', result)).toEqual(['tools/ConfigMap/c-69']);
  expect(named('created', result).length).toBe(MANY - 1);
  expect(named('held', result)).toEqual(['tools/ConfigMap/first']);

  world.cluster.cluster.resetCounters();
  const next = await world.run(PLENTY);
  expect([exitCodeOf(next), asked()]).toEqual([7, 1]);
  expect(named('failed', next)).toEqual(['tools/ConfigMap/c-69']);
  expect(world.cluster.cluster.counters().writes).toEqual({});
});
