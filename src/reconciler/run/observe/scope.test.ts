// Tests which namespaces an instance may touch.

import { expect, test } from 'vitest';
import type { Sourced } from '../read/sourced.ts';
import { outside, scopeOf } from './scope.ts';

function declared(namespace: string): Sourced {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'one' } };
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'one' };
  return { id, object, source: 'fleet', place: () => ({ file: 'one.yaml', line: 1, column: 1 }) };
}

test('a resource in another namespace has a problem at its place', () => {
  const [inside, elsewhere] = [declared('team-a'), declared('kube-system')];
  const found = outside(scopeOf(['team-*']), [inside, elsewhere]);
  expect([...found].map(([{ id }, { code, pointer }]) => [id.namespace, code, pointer])).toEqual([
    ['kube-system', 'namespace-not-allowed', '/metadata/namespace'],
  ]);
});

test('a malformed pattern is refused', () => {
  expect(() => scopeOf(['team-[a'])).toThrow(expect.objectContaining({ code: 'pattern-invalid' }));
});
