// A plan by a snapshot alone says what a plan with access to the cluster says, but for what it tells that it cannot know.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Plan } from '#reconciler/run/plan/plan.ts';
import { formatSnapshot } from '#reconciler/run/plan-file/state-snapshot.ts';
import type { StateSnapshot } from '#reconciler/run/plan-file/state-snapshot-format.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';
import { fleetFiles, server } from './fleet.ts';

const OPTIONS = { waitSeconds: 0 };
let world: World;
let snapshot: StateSnapshot;

const KEEPER = `apiVersion: v1
kind: Secret
metadata: {name: token, namespace: tools}
stringData: {value: a-value-that-nobody-may-see}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: words, namespace: tools}
data: {greeting: hello}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: tools, annotations: {skep.dev/prune: disabled}}
data: {greeting: hello}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: keeper, namespace: tools}
spec:
  image: images.example.com/keeper:1.0.0
  transport: stdio
  groupRef: team
  secrets:
    - {name: token, key: value, targetEnvName: TOKEN}
    - {name: outside, key: value, targetEnvName: OUTSIDE}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata: {name: exchange, namespace: tools}
spec:
  type: tokenExchange
  tokenExchange:
    tokenUrl: https://idp.example.com/token
    clientId: skep
    clientSecretRef: {name: token, key: value}
    audience: backend
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: all, namespace: tools}
spec:
  config: {groupRef: team}
  incomingAuth: {type: anonymous}
`;

const BASE = { ...fleetFiles({ one: '1.0.0', two: '1.0.0' }), 'cluster/keeper.yaml': KEEPER };

beforeAll(async () => {
  world = await startWorld();
  const { client } = world;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tools' } });
  const data = { value: Buffer.from('another-value-that-nobody-may-see').toString('base64') };
  await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'outside', namespace: 'tools' }, data });
  world.fleet.commit(BASE);
  const { problems } = await world.run(OPTIONS);
  expect(problems).toEqual([]);
  snapshot = await world.snapshot();
});

afterAll(() => world.close());

/** Digests are made with another key; all else is the same. */
function reported({ batches, held, unchanged, waiting }: Plan): object {
  return {
    batches: batches.map(({ name, changes }) => [
      name,
      changes.map(({ action, resource, diff }) => [
        action,
        formatId(resource),
        diff.map((each) => (each.path.includes('secrets-checksum') ? each.path : each)),
      ]),
    ]),
    held,
    unchanged: unchanged.map(formatId).sort(),
    waiting,
  };
}

function whole({ plan, problems, failures }: RunResult): object {
  return { ...reported(plan), problems, failures };
}

const DELETED = Object.fromEntries(Object.keys(BASE).map((path) => [path, undefined]));
const files = (changes: Readonly<Record<string, string | undefined>>) => ({ ...BASE, ...changes });

const STORIES: readonly [string, Readonly<Record<string, string | undefined>>, WorldOverrides, number][] = [
  ['nothing changes', BASE, {}, 0],
  ['an image changes', files({ 'cluster/one.yaml': server('one', '2.0.0') }), {}, 2],
  ['a server comes', files({ 'cluster/three.yaml': server('three') }), {}, 3],
  ['a server goes', files({ 'cluster/two.yaml': undefined }), {}, 3],
  ['a Secret changes, and pods follow', files({ 'cluster/keeper.yaml': KEEPER.replace('a-value', 'b-value') }), {}, 2],
  ['a ConfigMap changes', files({ 'cluster/keeper.yaml': KEEPER.replace('hello', 'good day') }), {}, 1],
  ['a protected object is not declared any more', files({ 'cluster/keeper.yaml': undefined }), {}, 5],
  ['a manifest becomes invalid', files({ 'cluster/one.yaml': server('one').replace('stdio', 'smoke') }), {}, 0],
  ['a reference leads nowhere', files({ 'cluster/one.yaml': server('one').replace('team', 'nobody') }), {}, 1],
  ['a document cannot be identified', files({ 'cluster/one.yaml': 'kind: MCPServer\n' }), {}, 0],
  [
    'an existing Secret is used for the first time',
    files({
      'cluster/three.yaml': `${server('three')}  secrets: [{name: outside, key: value, targetEnvName: X}]\n`,
    }),
    {},
    3,
  ],
  [
    'a key is used that a Secret has not',
    files({
      'cluster/three.yaml': `${server('three')}  secrets: [{name: outside, key: other, targetEnvName: X}]\n`,
    }),
    {},
    1,
  ],
  [
    'all goes, beyond the limits',
    { ...DELETED, 'cluster/readme.yaml': '' },
    { limits: { maxDeletes: 1, maxDeletesPercent: 50 } },
    0,
  ],
  [
    'a server moves to another namespace',
    files({
      'cluster/one.yaml': server('one')
        .replace('namespace: tools', 'namespace: more')
        .replace('  groupRef: team\n', ''),
      'cluster/more.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n',
    }),
    {},
    4,
  ],
];

describe('the plans agree where', () => {
  test.each(STORIES)('%s', async (_name, changes, overrides, least) => {
    world.fleet.commit({ ...changes, 'cluster/story.txt': _name });
    const real = await world.plan(overrides);
    const result = await world.planAgainst(snapshot, overrides);
    expect(whole(result)).toEqual(whole(real));
    expect(real.plan.batches.flatMap((batch) => batch.changes).length).toBeGreaterThanOrEqual(least);
    world.fleet.commit({ ...Object.fromEntries(Object.keys(changes).map((path) => [path, undefined])), ...BASE });
  });
});

test('what drifted is told as changed, and that its values are not known', async () => {
  const id = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'tools', name: 'one' };
  const live = await world.client.get(id);
  if (live === undefined) throw new Error('it does not live');
  const spec = { ...(live.spec as object), image: 'images.example.com/one:hotfix' };
  await world.client.replace({ ...live, spec } as KubeObject);
  const drifted = await world.snapshot();
  const real = await world.plan();
  const result = await world.planAgainst(drifted);
  const paths = ({ plan }: RunResult) =>
    plan.batches.flatMap(({ changes }) =>
      changes.map((each) => [each.action, formatId(each.resource), each.diff.map(({ path }) => path)]),
    );
  expect(paths(result)).toEqual(paths(real));
  expect(result.plan.batches[0]?.changes[0]?.diff).toEqual([
    { path: '/spec/image', before: '*** (drifted)', after: '*** (as declared)' },
  ]);
  expect(result.against?.unknown).toContain(
    'the live values of objects that others changed in the cluster: tools/MCPServer/one',
  );
  await world.run(OPTIONS);
});

test('where it is not known which keys a Secret has, those that are named are taken to be there, and that is told', async () => {
  const keyless = snapshot.objects.map(({ keys, ...known }) =>
    known.resource.name === 'outside' ? known : { ...known, keys },
  );
  world.fleet.commit(
    files({ 'cluster/three.yaml': `${server('three')}  secrets: [{name: outside, key: value, targetEnvName: X}]\n` }),
  );
  const { problems, against } = await world.planAgainst({ ...snapshot, objects: keyless });
  world.fleet.commit({ ...DELETED, ...BASE, 'cluster/three.yaml': undefined });
  expect(problems).toEqual([]);
  expect(against?.unknown).toContain('the keys of objects that are not in Git: tools/Secret/outside');
});

test('a Secret that nobody says to have keys is in a snapshot without them', async () => {
  const metadata = { name: 'empty', namespace: 'tools' };
  await world.client.create({ apiVersion: 'v1', kind: 'Secret', metadata });
  const { objects } = await world.snapshot();
  const found = objects.filter(({ resource }) => resource.name === 'empty' || resource.name === 'outside');
  expect(found.map(({ keys }) => keys)).toEqual([undefined, ['value']]);
});

test('a snapshot has no value of anything', () => {
  const text = formatSnapshot(snapshot);
  expect(text).toContain('"tools"');
  expect(text).not.toMatch(/that-nobody|dGhhdC1ub2JvZHk|YS12YWx1ZS|images\.example\.com|hello/);
});
