// Tests which fields of a desired object are left to other managers, and that applying the remaining fields causes no
// conflict.

import { describe, expect, test } from 'vitest';
import { deployment, object, thing, typeOf } from '../../../../test/kubernetes/rules/thing.ts';
import type { KubeObject } from '../object.ts';
import { compare } from './compare.ts';
import { concede, concedeAnswered } from './concede.ts';
import { serverSideApply } from './write/apply.ts';

function applied(live: KubeObject | undefined, desired: KubeObject, manager: string): KubeObject {
  const { apiVersion } = desired;
  const base = { applied: desired, manager, apiVersion, type: typeOf(desired), time: '2026-01-01T12:00:00Z' };
  const result = serverSideApply({ ...base, force: true, ...(live === undefined ? {} : { live }) });
  if (!('object' in result)) throw new Error(JSON.stringify(result));
  return result.object;
}

interface Case {
  readonly reason: string;
  readonly desired: KubeObject;
  readonly theirs: KubeObject;
  readonly lost: readonly string[];
  readonly pointers?: readonly string[];
  /** The fields that are still applied. */
  readonly left: unknown;
}

function container(name: string, image: string, env?: string): Record<string, unknown> {
  return { name, image, ...(env === undefined ? {} : { env: [{ name: 'MODE', value: env }] }) };
}

function pods(...containers: Record<string, unknown>[]): KubeObject {
  return deployment({ containers } as KubeObject[string]);
}

const CASES: readonly Case[] = [
  {
    reason: 'a field',
    desired: thing({ image: 'a', replicas: 2 }),
    theirs: thing({ image: 'b' }),
    lost: ['/spec/image'],
    left: { replicas: 2 },
  },
  {
    reason: 'a field of an item, whose key stays',
    desired: pods(container('one', 'one:1'), container('two', 'two:1', 'fast')),
    theirs: pods(container('two', 'two:2', 'fast')),
    lost: ['/spec/template/spec/containers/[name=two]/image'],
    pointers: ['/spec/template/spec/containers/1/image'],
    left: {
      template: {
        spec: {
          containers: [
            { name: 'one', image: 'one:1' },
            { name: 'two', env: [{ name: 'MODE', value: 'fast' }] },
          ],
        },
      },
    },
  },
  {
    reason: 'a field of an item of an item',
    desired: pods(container('one', 'one:1', 'fast')),
    theirs: pods(container('one', 'one:1', 'slow')),
    lost: ['/spec/template/spec/containers/[name=one]/env/[name=MODE]/value'],
    pointers: ['/spec/template/spec/containers/0/env/0/value'],
    left: { template: { spec: { containers: [{ name: 'one', image: 'one:1', env: [{ name: 'MODE' }] }] } } },
  },
  {
    reason: 'an atomic list, as a whole',
    desired: thing({ image: 'a', steps: [{ name: 'x' }, { name: 'y' }] }),
    theirs: thing({ steps: [{ name: 'x' }] }),
    lost: ['/spec/steps'],
    left: { image: 'a' },
  },
  {
    reason: 'an atomic map, as a whole',
    desired: thing({ image: 'a', selector: { a: '1', b: '2' } }),
    theirs: thing({ selector: { a: '2', b: '2' } }),
    lost: ['/spec/selector'],
    left: { image: 'a' },
  },
  {
    reason: 'some keys of a free map, and with all of them the map',
    desired: thing({ env: { A: '1', B: '1' }, nested: { x: 1 } }),
    theirs: thing({ env: { A: '2' }, nested: { x: 2 } }),
    lost: ['/spec/env/A', '/spec/nested/x'],
    left: { env: { B: '1' } },
  },
  {
    reason: 'all keys of a free-form map, but the map stays',
    desired: thing({ image: 'a', free: { spec: { disk: 'fast' }, rest: { a: '1' } } }),
    theirs: thing({ free: { spec: { disk: 'slow' } } }),
    lost: ['/spec/free/spec/disk'],
    left: { image: 'a', free: { spec: {}, rest: { a: '1' } } },
  },
  {
    reason: 'no field that others have with the same value, or additionally',
    desired: thing({ image: 'a', tags: ['x'] }),
    theirs: thing({ image: 'a', tags: ['y'], replicas: 3 }),
    lost: [],
    left: { image: 'a', tags: ['x'] },
  },
  {
    reason: 'a key with dots and slashes',
    desired: object('v1', 'ConfigMap', { data: { 'a.b/c': '1', d: '1' } }),
    theirs: object('v1', 'ConfigMap', { data: { 'a.b/c': '2' } }),
    lost: ['/data/a.b~1c'],
    left: undefined,
  },
];

describe.each(CASES)('$reason', ({ desired, theirs, lost, pointers = lost, left }) => {
  const type = typeOf(desired);
  const live = applied(applied(undefined, desired, 'us'), theirs, 'others');

  test('the fields are left to the other manager', () => {
    const found = concede(desired, live, type, 'us');
    expect(found.conceded.map(({ path, manager }) => [path, manager])).toEqual(lost.map((path) => [path, 'others']));
    expect(found.conceded.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(found.object.spec).toEqual(left);
  });

  test('the remaining object is already applied', () => {
    const { object: rest } = concede(desired, live, type, 'us');
    expect(compare(rest, live, type, 'us').result).toBe('unchanged');
  });

  test('nothing is conceded after the other manager gave up the fields', () => {
    const bare = { apiVersion: theirs.apiVersion, kind: theirs.kind, metadata: theirs.metadata };
    const free = applied(live, bare, 'others');
    expect(concede(desired, free, type, 'us').conceded).toEqual([]);
  });

  test('the fields are taken over and reported if they are not to be kept', () => {
    const { object, conceded, taken } = concede(desired, live, type, 'us', () => false);
    expect([object, conceded]).toEqual([desired, []]);
    expect(taken).toEqual(concede(desired, live, type, 'us').conceded);
  });

  test('the conflicts that a server reports give the same result', () => {
    const { apiVersion } = desired;
    const result = serverSideApply({ live, applied: desired, type, manager: 'us', apiVersion, force: false, time: '' });
    const answered = 'conflicts' in result ? result.conflicts : [];
    const { taken, ...conceded } = concede(desired, live, type, 'us');
    expect(taken).toEqual([]);
    expect(concedeAnswered(desired, type, answered)).toEqual(conceded);
  });
});

test('fields of others in a free-form map are kept when the remaining object is applied', () => {
  const [ours, theirs] = ['fast', 'slow'].map((disk) => thing({ image: 'a', free: { spec: { disk } } }));
  if (ours === undefined || theirs === undefined) throw new Error('two things');
  const live = applied(applied(undefined, ours, 'us'), theirs, 'others');
  const after = applied(live, concede(ours, live, typeOf(ours), 'us').object, 'us');
  expect(after.spec).toEqual(theirs.spec);
});

test('a shared field that we change keeps the value of the other manager and is no longer ours', () => {
  const shared = applied(applied(undefined, thing({ image: 'a', replicas: 2 }), 'us'), thing({ image: 'a' }), 'others');
  const { object: rest } = concede(thing({ image: 'b', replicas: 3 }), shared, typeOf(shared), 'us');
  expect(rest.spec).toEqual({ replicas: 3 });
  const after = applied(shared, rest, 'us');
  expect(after.spec).toEqual({ image: 'a', replicas: 3 });
  expect(compare(rest, after, typeOf(after), 'us').result).toBe('unchanged');
});

test('a path that is not in the object is not a conflict', () => {
  const desired = thing({ image: 'a' });
  const found = concedeAnswered(desired, typeOf(desired), [{ path: '.spec.other', manager: 'others' }]);
  expect(found).toEqual({ object: desired, conceded: [] });
});
