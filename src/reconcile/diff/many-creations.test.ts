import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import type { Compared } from './compared.ts';
import { firstOfMany } from './many-creations.ts';

function comparedOf(name: string, namespace: string, verdict: Compared['verdict'] = 'create'): Compared {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } };
  return { desired: { id, key: `${namespace}/${name}`, object }, verdict, diff: [] };
}

function many(count: number, namespace: string, verdict?: Compared['verdict']): Compared[] {
  return Array.from({ length: count }, (_, index) => comparedOf(String(index), namespace, verdict));
}

test('beyond the first fifty of a kind in a namespace, those fifty stand for each', () => {
  const found = firstOfMany([...many(52, 'a'), ...many(50, 'b')], () => undefined);
  expect([...found.keys()]).toEqual(['a/50', 'a/51']);
  expect(found.get('a/51')).toEqual(many(50, 'a').map(({ desired }) => desired.key));
});

test('what exists stands for nothing, and nothing for it', () => {
  expect(firstOfMany(many(60, 'a', 'changed'), () => undefined).size).toBe(0);
});

test('what is made with the rights of another account is judged anew', () => {
  const accountOf = ({ metadata }: KubeObject) => (Number(metadata.name) < 30 ? 'one' : undefined);
  expect(firstOfMany(many(60, 'a'), accountOf).size).toBe(0);
});
