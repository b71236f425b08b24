// A problem never deletes: while something of a source is at fault, what seems to be gone may be just that under another
// name. The limits are of each source, whatever others have.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { clearQuarantine, readQuarantine, storeQuarantine } from '#reconciler/run/records/quarantine.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';
import { members, publish, server } from './fleet.ts';

/** As skep.yaml has them where it says nothing. */
const OPTIONS: WorldOverrides = {
  limits: { maxDeletes: 20, maxDeletesPercent: 25 },
  waitSeconds: 0,
  sources: (fleet) => [fleet, { ...fleet, name: 'more', path: 'more' }],
};
let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});

afterAll(() => world.close());

beforeEach(async () => {
  publish(world.fleet, { wiki: '1.0.0', news: '1.0.0' });
  world.fleet.commit({ 'more/maps.yaml': map('one') });
  const { plan } = await run();
  for (const { hash } of plan.waiting) await world.approve(hash, 24, OPTIONS);
  if (plan.waiting.length > 0) await run();
});

/** Two sources of one repository. */
function run(): Promise<RunResult> {
  return world.run(OPTIONS);
}

function deleted({ outcomes }: RunResult): string[] {
  return outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => formatId(resource));
}

async function living(): Promise<string[]> {
  return [...(await members(world.client, 'test')).keys()];
}

function rename(from: string, to: string, manifest: string): void {
  world.fleet.commit({ [`cluster/${from}.yaml`]: undefined, [`cluster/${to}.yaml`]: manifest });
}

test('a rename with a typo deletes nothing, says so, and an approval lets exactly that go', async () => {
  rename('wiki', 'wiki2', server('wiki2').replace('transport: stdio', 'transport: studio'));
  const result = await run();
  expect([exitCodeOf(result), deleted(result)]).toEqual([3, []]);
  expect(await living()).toContain('tools/MCPServer/wiki');
  expect(result.plan.waiting.map(({ source, reasons }) => [source, reasons])).toEqual([
    ['fleet', ['tools/MCPServer/wiki2 is invalid: it may be the new name of an object that would be deleted']],
  ]);
  const [{ hash } = { hash: '' }] = result.plan.waiting;
  await world.approve(hash, 24, OPTIONS);
  expect(deleted(await run())).toContain('tools/MCPServer/wiki');
  expect(await living()).toContain('tools/MCPServer/news');
});

test('a rename that the server refuses deletes nothing, and goes on once the server takes it', async () => {
  rename('wiki', 'wiki2', server('wiki2'));
  const refuse = { match: { verb: 'apply', resource: 'mcpservers', name: 'wiki2' }, action: { status: 422 } } as const;
  world.cluster.cluster.faults.add(refuse);
  const result = await run();
  world.cluster.cluster.faults.clear();
  expect([exitCodeOf(result), deleted(result)]).toEqual([7, []]);
  expect(await living()).toContain('tools/MCPServer/wiki');
  expect(deleted(await run())).toContain('tools/MCPServer/wiki');
});

test('what fails only when it is applied stops the deletions of the same run', async () => {
  rename('wiki', 'wiki2', server('wiki2'));
  const match = { verb: 'apply', resource: 'mcpservers', name: 'wiki2', dryRun: false } as const;
  world.cluster.cluster.faults.add({ match, action: { status: 422 } });
  const result = await run();
  world.cluster.cluster.faults.clear();
  expect([exitCodeOf(result), deleted(result)]).toEqual([7, []]);
  const codes = result.outcomes.map(({ resource, error }) => [formatId(resource), error?.code]);
  expect(codes).toContainEqual(['tools/MCPServer/wiki', 'source-at-fault']);
  expect(await living()).toContain('tools/MCPServer/wiki');
});

test('a source that is emptied waits, however small it is beside others, and the others go on', async () => {
  const maps = Array.from({ length: 10 }, (_, n) => map(`many-${n}`)).join('---\n');
  world.fleet.commit({ 'cluster/maps.yaml': maps });
  expect(exitCodeOf(await run())).toBe(0);
  world.fleet.commit({ 'more/maps.yaml': '# nothing\n' });
  const result = await run();
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(result.plan.waiting.map(({ source, reasons }) => [source, reasons])).toEqual([
    ['more', ['source more declares nothing any more, and its only object would be deleted']],
  ]);
  world.fleet.commit({ 'cluster/maps.yaml': maps.slice(maps.indexOf('---\n') + 4) });
  const next = await run();
  expect([exitCodeOf(next), deleted(next)]).toEqual([5, ['tools/ConfigMap/many-0']]);
});

function map(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools}\ndata: {k: v}\n`;
}

test('two sources wait under a hash each', async () => {
  publish(world.fleet, {});
  world.fleet.commit({ 'more/maps.yaml': '# nothing\n' });
  const result = await run();
  expect(result.plan.waiting.map(({ source }) => source)).toEqual(['fleet', 'more']);
  expect(new Set(result.plan.waiting.map(({ hash }) => hash)).size).toBe(2);
  const own = result.plan.waiting.map(({ deletions }) => deletions.map(({ id }) => id));
  expect(own[1]).toEqual(['tools/ConfigMap/one']);
});

test('a namespace with something in it that is not ours waits, and the plan names it', async () => {
  world.fleet.commit({
    'cluster/thing.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: spare}\n',
  });
  await run();
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'theirs', namespace: 'spare' } };
  await world.cluster.send('POST', '/api/v1/namespaces/spare/configmaps', { body: theirs });
  world.fleet.commit({ 'cluster/thing.yaml': undefined });
  const result = await run();
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(result.plan.waiting.map(({ reasons }) => reasons)).toEqual([
    ['deleting Namespace/spare also deletes content that this instance does not manage: spare/ConfigMap/theirs'],
  ]);
  await world.cluster.send('DELETE', '/api/v1/namespaces/spare/configmaps/theirs');
  expect(deleted(await run())).toEqual(['Namespace/spare']);
});

test('a definition of a kind waits while others have objects of the kind', async () => {
  world.fleet.commit({ 'cluster/thing.yaml': DEFINITION });
  await run();
  world.client.refresh();
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'theirs', namespace: 'tools' } };
  await world.cluster.send('POST', '/apis/example.com/v1/namespaces/tools/gadgets', { body: gadget });
  world.fleet.commit({ 'cluster/thing.yaml': undefined });
  const result = await run();
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(result.plan.waiting.map(({ reasons }) => reasons)).toEqual([
    [
      'deleting CustomResourceDefinition/gadgets.example.com also deletes content that this instance does not manage: tools/Gadget/theirs',
    ],
  ]);
  const [{ hash } = { hash: '' }] = result.plan.waiting;
  await world.approve(hash, 24, OPTIONS);
  expect(deleted(await run())).toEqual(['CustomResourceDefinition/gadgets.example.com']);
});

const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object}}
`;

test('what is left alone by an annotation is no fault', async () => {
  const broken = server('news').replace('transport: stdio', 'transport: studio');
  const paused = broken.replace('namespace: tools}', 'namespace: tools, annotations: {skep.dev/reconcile: disabled}}');
  world.fleet.commit({ 'cluster/news.yaml': paused, 'cluster/wiki.yaml': undefined });
  expect(deleted(await run())).toContain('tools/MCPServer/wiki');
  expect(await living()).toContain('tools/MCPServer/news');
});

test('what moved to a source that is rolled back stays where the other source goes on', async () => {
  const good = world.fleet.commit({ 'cluster/moving.yaml': map('moving') });
  await run();
  const bad = world.fleet.commit({ 'cluster/moving.yaml': undefined, 'more/moving.yaml': map('moving') });
  await run();
  const home = { instance: 'test', homeNamespace: 'default' };
  const entryOf = (source: string) => ({ source, good, bad, older: [], run: 'run', since: '2026-01-01T00:00:00Z' });
  const both = ['fleet', 'more'].map(entryOf);
  await storeQuarantine(world.client, home, await readQuarantine(world.client, home), both);
  await run();
  await clearQuarantine(world.client, home, ['fleet']);
  const result = await run();
  await clearQuarantine(world.client, home, []);
  expect(deleted(result)).toEqual([]);
  expect(result.plan.held.map(({ resource, reason }) => [resource.name, reason])).toContainEqual([
    'moving',
    'source more declares it in the commit that a rollback took out of use',
  ]);
  world.fleet.commit({ 'more/moving.yaml': undefined });
});
