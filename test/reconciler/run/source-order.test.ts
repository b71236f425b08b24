// Sources that depend on others: nothing of them is changed or deleted until those are applied and ready, and it is said what waits
// for what.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ChangeOutcome } from '#reconciler/run/apply/apply.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
});

afterAll(() => world.close());

const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n';
const GROUP = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: {name: team, namespace: tools}
spec: {}
`;

function server(name: string, more = ''): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec:
  image: images.example.com/${name}:1
  transport: stdio
${more}`;
}

function map(name: string, value = 'v'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools}\ndata: {k: ${value}}\n`;
}

/** Nothing runs it: it is ready once a test says so. */
const MIGRATION = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migration', namespace: 'tools' } };
const JOB = `${JSON.stringify({
  ...MIGRATION,
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'm', image: 'images.example.com/m:1' }] } },
  },
})}\n`;

async function finish(type: 'Complete' | 'Failed', message = ''): Promise<void> {
  const conditions = [{ type, status: 'True', message }];
  await world.client.apply({ ...MIGRATION, status: { conditions } }, { subresource: 'status', force: true });
}

const SOURCES: WorldOverrides['sources'] = (fleet) => [
  { ...fleet, name: 'apps', path: 'apps', dependsOn: ['infra'] },
  { ...fleet, name: 'infra', path: 'infra' },
];

beforeEach(async () => {
  world.fleet.commit({
    'infra/base.yaml': `${NAMESPACE}---\n${GROUP}`,
    'infra/more.yaml': '# nothing\n',
    'apps/one.yaml': map('one'),
    'apps/two.yaml': map('two'),
    'apps/three.yaml': '# nothing\n',
    'apps/four.yaml': '# nothing\n',
  });
  await run({ waitSeconds: 60 });
  await run({ waitSeconds: 60 });
});

const limits = { maxDeletes: 20, maxDeletesPercent: 100 };

function run(overrides: WorldOverrides = {}): Promise<RunResult> {
  return world.run({ waitSeconds: 0, limits, sources: SOURCES, ...overrides });
}

function changes({ outcomes }: RunResult): string[] {
  return outcomes.map(({ action, resource }) => `${action} ${formatId(resource)}`);
}

function reasons({ waits }: RunResult): string[] {
  return waits.map(({ source, for: needed, reason }) => `${source} waits for ${needed}: ${reason}`);
}

async function dataOf(name: string): Promise<unknown> {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name };
  return (await world.client.get(id))?.data;
}

test('one run applies a source, waits until it is ready, and applies the source that depends on it after that', async () => {
  world.fleet.commit({ 'infra/more.yaml': server('base'), 'apps/one.yaml': map('one', 'new') });
  const order: string[] = [];
  const progress = ({ action, resource }: ChangeOutcome) => void order.push(`${action} ${formatId(resource)}`);
  const result = await run({ waitSeconds: 60, progress });
  expect(result).toMatchObject({ waits: [], timedOut: false });
  expect(order[0]).toBe('created tools/MCPServer/base');
  expect(order.at(-1)).toBe('configured tools/ConfigMap/one');
  expect(changes(result).sort()).toEqual(order.sort());
  const status = await world.client.get({
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPServer',
    namespace: 'tools',
    name: 'base',
  });
  expect(status?.status).toMatchObject({ phase: 'Running' });
});

test('a source waits for objects that are not ready: it is not changed and not deleted, and it is said why', async () => {
  world.fleet.commit({
    'infra/more.yaml': JOB,
    'apps/one.yaml': map('one', 'new'),
    'apps/two.yaml': undefined,
    'apps/three.yaml': map('three'),
  });
  const planned = await world.plan({ limits, sources: SOURCES });
  expect(reasons(planned)).toEqual(['apps waits for infra: tools/Job/migration is not applied yet']);
  const { batches, held } = planned.plan;
  expect(batches.flatMap(({ changes: all }) => all.map(({ resource }) => formatId(resource)))).toEqual([
    'tools/Job/migration',
  ]);
  expect(held.map(({ resource, reason }) => `${formatId(resource)}: ${reason}`).sort()).toEqual(
    ['one', 'three', 'two'].map((name) => `tools/ConfigMap/${name}: source apps waits for source infra`),
  );
  expect([exitCodeOf(planned), exitCodeOf(planned, true)]).toEqual([0, 2]);

  const first = await run();
  expect(changes(first)).toEqual(['created tools/Job/migration']);
  expect(reasons(first)).toEqual([
    'apps waits for infra: tools/Job/migration is not ready (its condition Complete is not True)',
  ]);
  expect([await dataOf('one'), await dataOf('two'), await dataOf('three')]).toEqual([
    { k: 'v' },
    { k: 'v' },
    undefined,
  ]);

  await finish('Failed', 'no such database');
  const second = await run();
  expect([changes(second), reasons(second)]).toEqual([
    [],
    ['apps waits for infra: tools/Job/migration is not ready (no such database)'],
  ]);

  await world.client.apply({ ...MIGRATION, status: {} }, { subresource: 'status', force: true });
  await finish('Complete');
  const third = await run();
  expect(reasons(third)).toEqual([]);
  expect(changes(third)).toEqual([
    'configured tools/ConfigMap/one',
    'created tools/ConfigMap/three',
    'deleted tools/ConfigMap/two',
  ]);
});

test('a run that waits for resources goes on as soon as the other source is ready, and ends with 8 if it never is', async () => {
  world.fleet.commit({ 'infra/more.yaml': JOB, 'apps/one.yaml': map('one', 'newer') });
  const late = await run({ waitSeconds: 1 });
  expect([reasons(late).length, late.timedOut, exitCodeOf(late)]).toEqual([1, true, 8]);
  const idle = await run({ waitSeconds: 1 });
  expect([idle.outcomes, idle.timedOut, exitCodeOf(idle)]).toEqual([[], true, 8]);
  expect(exitCodeOf(await run())).toBe(0);
  const going = run({ waitSeconds: 600 });
  await finish('Complete');
  expect(await going).toMatchObject({ waits: [], timedOut: false });
  expect(await dataOf('one')).toEqual({ k: 'newer' });
});

test('while a manifest of a source is invalid, what depends on it waits, and all problems are reported', async () => {
  world.fleet.commit({
    'infra/more.yaml': server('base', '  colour: blue\n'),
    'apps/one.yaml': map('one', 'later'),
    'apps/three.yaml': server('wiki', '  groupRef: nowhere\n'),
    'apps/four.yaml': server('bad', '  shape: round\n'),
  });
  const result = await run({ waitSeconds: 600 });
  expect(changes(result)).toEqual([]);
  expect(reasons(result)).toEqual(['apps waits for infra: tools/MCPServer/base is invalid']);
  expect(result.problems.map(({ code, severity, resource }) => `${severity} ${code} ${resource?.name}`).sort()).toEqual(
    ['error schema-unknown-field bad', 'error schema-unknown-field base', 'warning reference-missing wiki'],
  );
  expect(exitCodeOf(result)).toBe(3);
  expect(await dataOf('one')).toEqual({ k: 'v' });
});

test.each([
  ['deletes', 'one-place', '# nothing\n'],
  ['no longer needs', 'another-place', server('wiki')],
])(
  'what a waiting source still refers to is not deleted, though it %s the object that does',
  async (_what, place, next) => {
    const inPlace = (text: string) => text.replaceAll('tools', place);
    const only = (result: RunResult) =>
      result.plan.held
        .filter(({ owner }) => owner === undefined)
        .map(({ resource, reason }) => `${formatId(resource)}: ${reason}`)
        .sort();
    world.fleet.commit({ 'infra/more.yaml': inPlace(`${NAMESPACE}---\n${GROUP}`) });
    await run({ waitSeconds: 60 });
    world.fleet.commit({ 'apps/three.yaml': inPlace(server('wiki', '  groupRef: team\n')) });
    await run({ waitSeconds: 60 });
    world.fleet.commit({ 'infra/more.yaml': JOB, 'apps/three.yaml': inPlace(next) });
    const result = await run();
    expect(changes(result)).toEqual(['created tools/Job/migration']);
    expect(only(result)).toEqual([
      `Namespace/${place}: something in it is kept`,
      `${place}/MCPGroup/team: ${place}/MCPServer/wiki still refers to it`,
      `${place}/MCPServer/wiki: source apps waits for source infra`,
    ]);
    await finish('Complete');
    const after = await run({ limits: { maxDeletes: 50, maxDeletesPercent: 100 } });
    expect(changes(after)).toContain(`deleted ${place}/MCPGroup/team`);
  },
);

test('a chain waits as a whole, and a source that cannot be read counts as not applied', async () => {
  const sources: WorldOverrides['sources'] = (fleet) => [
    { ...fleet, name: 'apps', path: 'apps', dependsOn: ['middle'] },
    { ...fleet, name: 'middle', path: 'middle', dependsOn: ['infra'] },
    {
      ...fleet,
      name: 'infra',
      path: 'infra',
      repository: { ...fleet.repository, fetch: () => Promise.reject(new Failure('git-unreachable', 'no answer')) },
    },
  ];
  world.fleet.commit({ 'apps/one.yaml': map('one', 'never') });
  const result = await run({ sources });
  expect(reasons(result)).toEqual([
    'apps waits for middle: that one waits for source infra',
    'middle waits for infra: it could not be read',
  ]);
  expect([changes(result), exitCodeOf(result)]).toEqual([[], 1]);
});
