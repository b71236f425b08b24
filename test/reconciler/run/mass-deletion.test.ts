// The ways in which a whole fleet seems to be unwanted at once: nothing is deleted without approval, and the report says
// why. What cannot be read at all is in deletions.test.ts.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

/** As skep.yaml has them where it says nothing. */
const LIMITS = { limits: { maxDeletes: 20, maxDeletesPercent: 25 }, waitSeconds: 0 };
const FLEET = { clock: '1.0.0', news: '1.0.0', search: '1.0.0', weather: '1.0.0' };

let world: World;
let before: string[];

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
  publish(world.fleet, FLEET);
  expect(exitCodeOf(await world.run(LIMITS))).toBe(0);
  before = await living();
});

afterAll(() => world.close());

async function living(): Promise<string[]> {
  return [...(await members(world.client, 'test')).keys()];
}

function deleted({ outcomes }: RunResult): string[] {
  return outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => formatId(resource));
}

test('a folder with nothing left in it: everything waits for approval', async () => {
  const tracked = world.fleet
    .git('ls-files', 'cluster')
    .split('\n')
    .filter((path) => path !== '');
  const emptied = Object.fromEntries(tracked.map((path) => [path, undefined]));
  world.fleet.commit({ ...emptied, 'cluster/README.md': 'There were servers here.\n' });
  const result = await world.run(LIMITS);
  expect([exitCodeOf(result), deleted(result), await living()]).toEqual([5, [], before]);
  expect(result.plan.waiting.flatMap(({ reasons }) => reasons)).toEqual([
    'source fleet declares nothing any more, and all 6 of its objects would be deleted',
    '4 of 4 MCPServer, more than apply.maxDeletesPercent allows (25 %)',
  ]);
});

test('a branch with another fleet: it comes, and what it does not know waits for approval', async () => {
  publish(world.fleet, { staging: '1.0.0' });
  const result = await world.run(LIMITS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(await living()).toEqual(expect.arrayContaining(before));
  expect(result.plan.waiting.flatMap(({ reasons }) => reasons)).toEqual([
    '4 of 4 MCPServer, more than apply.maxDeletesPercent allows (25 %)',
  ]);
});

test('a LIST that is forbidden: nothing of the kind goes, nor of its children, and the failure names the URL', async () => {
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'mcpservers' }, action: { status: 403 } });
  publish(world.fleet, {});
  const result = await world.run({ ...LIMITS, limits: { maxDeletes: 100, maxDeletesPercent: 100 } });
  world.cluster.cluster.faults.clear();
  expect([exitCodeOf(result), deleted(result)]).toEqual([1, []]);
  expect(result.failures.map(({ code, data }) => [code, data.url])).toEqual([
    ['cluster-forbidden', `${world.cluster.url}/apis/toolhive.stacklok.dev/v1beta1/mcpservers`],
  ]);
  expect(result.plan.held.map(({ reason }) => reason)).toContain('its owner mcpserver.clock could not be read');
  expect(await living()).toEqual(expect.arrayContaining(before));
});
