// Runs whose deadline passes after changes were made: what they did is reported, and the next run does the rest.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles, WIDGETS } from './fleet.ts';

const ACCOUNT = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot, namespace: default}\n';
const LIMITS = 'apiVersion: v1\nkind: LimitRange\nmetadata: {name: pods, namespace: default}\nspec: {limits: []}\n';
const WIDGET = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\n';

let world: World;
let late = false;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 4000 });
  world.fleet.commit({ 'cluster/account.yaml': ACCOUNT, 'cluster/limits.yaml': LIMITS });
  await world.run();
});
afterEach(() => {
  late = false;
  world.client.limit(undefined);
});
afterAll(() => world.close());

/** The deadline passes when `late` is set. */
function limitChanges(): void {
  world.client.limit({
    get changesUntil() {
      return late ? 0 : Infinity;
    },
    requestsUntil: Infinity,
    setting: 'apply.deadlineSeconds: 600',
  });
}

/** Kinds that the ApplySet parent names. */
async function kindsOfParent(): Promise<string> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps/skep-test');
  return body.metadata.annotations['applyset.kubernetes.io/contains-group-kinds'];
}

function reported({ outcomes, failures }: RunResult): readonly string[] {
  const lines = outcomes.map(({ action, resource }) => `${action} ${formatId(resource)}`);
  return [...lines, ...failures.map(({ code }) => code)];
}

test('a deadline that passes after the last change leaves the ApplySet parent to the next run, and nothing else', async () => {
  world.fleet.commit({ 'cluster/account.yaml': undefined, 'cluster/map.yaml': mapOf('a') });
  limitChanges();
  const progress = ({ action }: { readonly action: string }) => {
    late ||= action === 'deleted';
  };
  const result = await world.run({ progress });
  expect(reported(result)).toEqual(['created default/ConfigMap/a', 'deleted default/ServiceAccount/robot']);
  expect(exitCodeOf(result)).toBe(0);
  expect(await kindsOfParent()).toContain('ServiceAccount');
  late = false;
  expect(reported(await world.run())).toEqual([]);
  expect(await kindsOfParent()).not.toContain('ServiceAccount');
});

test('the time that a run waits for readiness is no part of its deadline', async () => {
  world.fleet.commit({ 'cluster/limits.yaml': undefined, ...fleetFiles({ wiki: '1.0.0' }) });
  limitChanges();
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/wiki';
  const running = world.run({ waitSeconds: 120 });
  await eventually(
    () => world.cluster.send('GET', path),
    ({ body }) => body.status?.phase !== undefined,
  );
  late = true;
  const result = await running;
  expect([exitCodeOf(result), result.timedOut]).toEqual([0, false]);
  expect((await world.cluster.send('GET', path)).body.status.phase).toBe('Running');
  expect(await kindsOfParent()).not.toContain('LimitRange');
});

test('a deadline that passes before the objects of a new kind keeps what came of its definition', async () => {
  world.fleet.commit({ 'cluster/widgets.yaml': WIDGETS, 'cluster/widget.yaml': WIDGET });
  limitChanges();
  const progress = () => {
    late = true;
  };
  const result = await world.run({ progress });
  expect(reported(result)).toEqual(['created CustomResourceDefinition/widgets.example.com', 'cluster-deadline']);
  expect(exitCodeOf(result)).toBe(1);
  late = false;
  expect(reported(await world.run())).toEqual(['created default/Widget/w']);
});

function mapOf(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {k: v}\n`;
}
