import { expect, test } from 'vitest';
import { compareVersions } from './version-order.ts';

test('stable versions are first, then beta, then alpha, each from new to old; other versions are last, sorted by name', () => {
  const shuffled = [
    'v1alpha1',
    'foo10',
    'v3beta1',
    'v1',
    'v12alpha1',
    'foo1',
    'v10',
    'v11beta2',
    'v2',
    'v10beta3',
    'v11alpha2',
  ];
  expect(shuffled.sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});
