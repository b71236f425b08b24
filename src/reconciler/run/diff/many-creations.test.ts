import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Compared } from './compared.ts';
import { firstOfMany } from './many-creations.ts';

function comparedOf(name: string, namespace: string, result: Compared['result'] = 'create'): Compared {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } };
  return { desired: { id, key: `${namespace}/${name}`, object }, result, diff: [] };
}

function many(count: number, namespace: string, result?: Compared['result']): Compared[] {
  return Array.from({ length: count }, (_, index) => comparedOf(String(index), namespace, result));
}

test('the first sixteen objects of a kind in a namespace stand for all further objects', () => {
  const found = firstOfMany([...many(18, 'a'), ...many(16, 'b')], () => undefined);
  expect([...found.keys()]).toEqual(['a/16', 'a/17']);
  expect(found.get('a/17')).toEqual(many(16, 'a').map(({ desired }) => desired.key));
});

test('existing objects do not belong to a group', () => {
  expect(firstOfMany(many(20, 'a', 'changed'), () => undefined).size).toBe(0);
});

test('a creation with the rights of another account belongs to another group', () => {
  const accountOf = ({ metadata }: KubeObject) => (Number(metadata.name) < 10 ? 'one' : undefined);
  expect(firstOfMany(many(20, 'a'), accountOf).size).toBe(0);
});
