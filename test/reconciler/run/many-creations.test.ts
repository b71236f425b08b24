// Of many creations alike the API server is asked about the first ones before anything is written. What it refuses of the others
// fails as itself, and the next run knows of it beforehand.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE, server } from './fleet.ts';

const MANY = 70;
/** All of them go between the tests. */
const PLENTY = { limits: { maxDeletes: 100, maxDeletesPercent: 100 } };

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

function refuse(name: string, resource = 'configmaps'): void {
  world.cluster.cluster.faults.add({ match: { verb: 'apply', resource, name }, action: { status: 403 } });
}

function namesOf(wanted: string, { outcomes }: RunResult): string[] {
  return outcomes.flatMap(({ action, resource }) => (action === wanted ? formatId(resource) : []));
}

function countDryRuns(): number | undefined {
  return world.cluster.cluster.counters().dryRuns.configmaps;
}

test('the first ones of a kind in a namespace stand for the others', async () => {
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), countDryRuns()]).toEqual([0, 16]);
  expect(namesOf('created', result).length).toBe(MANY);
  expect(namesOf('deleted', result)).toEqual(['tools/ConfigMap/first']);
});

test('a plan asks about each', async () => {
  publishMany();
  await world.plan(PLENTY);
  expect(countDryRuns()).toBe(MANY);
});

test('where one of the first is refused, each of the others is asked about', async () => {
  refuse('c-07');
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), countDryRuns()]).toEqual([7, MANY]);
  expect(namesOf('failed', result)).toEqual(['tools/ConfigMap/c-07']);
  expect(namesOf('created', result).length).toBe(MANY - 1);
});

test('one that is refused although the first were not fails alone, deletes nothing, and is known beforehand next time', async () => {
  refuse('c-69');
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), countDryRuns()]).toEqual([7, 16]);
  expect(namesOf('failed', result)).toEqual(['tools/ConfigMap/c-69']);
  expect(namesOf('created', result).length).toBe(MANY - 1);
  expect(namesOf('held', result)).toEqual(['tools/ConfigMap/first']);

  world.cluster.cluster.resetCounters();
  const next = await world.run(PLENTY);
  expect([exitCodeOf(next), countDryRuns()]).toEqual([7, 1]);
  expect(namesOf('failed', next)).toEqual(['tools/ConfigMap/c-69']);
  expect(world.cluster.cluster.counters().writes).toEqual({});
});

test('beside a replacement, which deletes, each is asked about', async () => {
  const secret = (type: string): string =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: fixed, namespace: tools, annotations: {skep.dev/replace: allowed}}\ntype: ${type}\n`;
  world.fleet.commit({ 'cluster/fixed.yaml': secret('example.com/one') });
  await world.run(PLENTY);
  world.cluster.cluster.resetCounters();
  refuse('c-69');
  world.fleet.commit({ 'cluster/fixed.yaml': secret('example.com/two') });
  publishMany();
  const result = await world.run(PLENTY);
  expect([exitCodeOf(result), countDryRuns()]).toEqual([7, MANY]);
  expect(namesOf('deleted', result)).toEqual([]);
  world.fleet.commit({ 'cluster/fixed.yaml': '# none\n' });
});

test('what is held with its owner stands for nothing: none is tried in every run', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `s-${String(index).padStart(2, '0')}`);
  for (const name of names.slice(0, -1)) refuse(name, 'mcpservers');
  refuse('s-59', 'deployments');
  world.fleet.commit({ 'cluster/many.yaml': [GROUP, ...names.map((name) => server(name))].join('---\n') });
  const result = await world.run(PLENTY);
  expect(exitCodeOf(result)).toBe(7);
  expect(namesOf('created', result)).toContain('tools/MCPServer/s-59');

  world.cluster.cluster.resetCounters();
  const next = await world.run(PLENTY);
  expect(namesOf('failed', next)).toContain('tools/Deployment/s-59');
  expect(world.cluster.cluster.counters().writes).toEqual({});
});
