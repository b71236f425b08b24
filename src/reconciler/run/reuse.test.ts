// Tests that a result is reused only if all inputs of the work, and all objects that it read, are the same.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { jsonEquals } from '#std/json.ts';
import { openReuse } from './reuse.ts';

type World = Readonly<Record<string, KubeObject>>;

function objectOf(kind: string, name: string, more: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: kind === 'MCPServer' ? 'x.dev/v1' : 'v1', kind, metadata: { name }, ...more };
}

/**
 * Opens work that finds an object by a name in another object. If the object does not exist, the work lists its kind.
 */
function open() {
  const reuse = openReuse();
  let done = 0;
  function result(world: World, given: readonly unknown[] = [], key = 'one') {
    return reuse.result({
      stage: 'made',
      key,
      given,
      questions: {
        find: (name: string) => world[name],
        all: (kind: string) => Object.values(world).filter((each) => each.kind === kind),
      },
      work({ find, all }) {
        done += 1;
        const next = find('first')?.metadata.namespace;
        const found = next === undefined ? undefined : find(next);
        return found === undefined ? all('MCPServer').map(({ metadata }) => metadata.name) : [found.spec];
      },
      equal: jsonEquals,
    });
  }
  return { reuse, result, done: () => done };
}

const FIRST = objectOf('MCPServer', 'first', { metadata: { name: 'first', namespace: 'second' } });
const SECOND = objectOf('MCPServer', 'second', { spec: 'a' });

test('no work is repeated while all inputs are the same, in any number of runs', () => {
  const { reuse, result, done } = open();
  const value = result({ FIRST, first: FIRST, second: SECOND });
  for (let run = 0; run < 3; run += 1) {
    reuse.ended();
    expect(result({ first: FIRST, second: SECOND })).toBe(value);
  }
  expect(done()).toBe(1);
});

const CHANGES: readonly (readonly [reason: string, world: World, given: readonly unknown[]])[] = [
  ['one of its inputs', { first: FIRST, second: SECOND }, ['other']],
  ['the number of its inputs', { first: FIRST, second: SECOND }, ['given', undefined]],
  ['an object that it looked at', { first: { ...FIRST }, second: SECOND }, ['given']],
  ['an object that another one named', { first: FIRST, second: { ...SECOND, spec: 'b' } }, ['given']],
  ['an object that was deleted', { first: FIRST }, ['given']],
];

test.each(CHANGES)('the work is repeated after a change of %s', (_reason, world, given) => {
  const { reuse, result, done } = open();
  result({ first: FIRST, second: SECOND }, ['given']);
  reuse.ended();
  const fresh = open();
  expect(result(world, given)).toEqual(fresh.result(world, given));
  expect(done()).toBe(2);
});

test('the work is repeated if a missing object or a further object of a list appears', () => {
  const { result, done } = open();
  expect(result({ first: FIRST })).toEqual(['first']);
  expect(result({ first: FIRST, third: objectOf('MCPServer', 'third') })).toEqual(['first', 'third']);
  expect(result({ first: FIRST })).toEqual(['first']);
  expect(result({ first: FIRST, second: SECOND })).toEqual(['a']);
  expect(result({ first: FIRST, second: SECOND, third: objectOf('MCPServer', 'third') })).toEqual(['a']);
  expect(done()).toBe(4);
});

test.each([
  { kind: 'Secret', same: true, reason: 'contents that each run reads again are compared by value' },
  { kind: 'ConfigMap', same: true, reason: 'those of ConfigMaps, too' },
  { kind: 'Service', same: false, reason: 'others count by identity, for lists have the same object until it changes' },
])('$reason', ({ kind, same }) => {
  const { result, done } = open();
  const second = () => objectOf(kind, 'second', { data: { a: 'b' } });
  result({ first: FIRST, second: second() });
  result({ first: FIRST, second: second() });
  expect(done()).toBe(same ? 1 : 2);
  result({ first: FIRST, second: { ...second(), data: { a: 'c' } } });
  expect(done()).toBe(same ? 2 : 3);
});

test('a pod is compared by value, because its version may occur twice after the server was restored', () => {
  const { result, done } = open();
  const metadata = { name: 'second', uid: 'u', resourceVersion: '7' };
  const second = (spec: string) => objectOf('Pod', 'second', { metadata, spec });
  expect(result({ first: FIRST, second: second('a') })).toEqual(['a']);
  expect(result({ first: FIRST, second: second('a') })).toEqual(['a']);
  expect(done()).toBe(1);
  expect(result({ first: FIRST, second: second('b') })).toEqual(['b']);
});

test('an equal result is the identical object, so that dependent work is not repeated', () => {
  const { result, done } = open();
  const before = result({ first: FIRST, second: SECOND });
  expect(result({ first: FIRST, second: { ...SECOND } })).toBe(before);
  expect(done()).toBe(2);
});

test('results that a run has not used are dropped', () => {
  const { reuse, result, done } = open();
  const world = { first: FIRST, second: SECOND };
  result(world);
  reuse.ended();
  result(world, [], 'another');
  reuse.ended();
  result(world, [], 'another');
  reuse.ended();
  result(world);
  expect(done()).toBe(3);
});

test('a proof repeats all work, and reports a result that would have been wrong', () => {
  const { reuse, result, done } = open();
  const second = { ...SECOND };
  const world = { first: FIRST, second };
  result(world);
  const differing: string[] = [];
  const differs = (stage: string, key: string) => void differing.push(`${stage} ${key}`);
  reuse.ended();
  reuse.prove(differs);
  result(world);
  expect([done(), differing]).toEqual([2, []]);
  reuse.ended();
  // Mutates the object, instead of replacing it.
  Object.assign(second, { spec: 'b' });
  expect(result(world)).toEqual(['a']);
  reuse.prove(differs);
  expect(result(world)).toEqual(['b']);
  reuse.ended();
  expect(result(world)).toEqual(['b']);
  expect([done(), differing]).toEqual([3, ['made one']]);
});
