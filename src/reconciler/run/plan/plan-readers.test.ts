// Tests plans for users who may read but not change the cluster.

import { expect, test } from 'vitest';
import type { Preview } from '../diff/compared.ts';
import type { Change } from './plan.ts';
import { withoutForbidden } from './plan-readers.ts';

const FORBIDDEN: Preview = { result: 'refused', code: 'cluster-forbidden', message: 'may not patch' };

function planWith(previews: readonly Preview[]) {
  const changes = previews.map((preview, index): Change => {
    const [name, kind] = [`map-${index}`, 'ConfigMap'];
    const resource = { apiVersion: 'v1', kind, namespace: 'tools', name };
    const object = { apiVersion: 'v1', kind, metadata: { name, namespace: 'tools' } };
    return { action: 'create', resource, key: name, object, preview, diff: [] };
  });
  return withoutForbidden({
    batches: [{ name: 'apply ConfigMap', changes }],
    held: [],
    unchanged: [],
    waiting: [],
    approved: [],
    within: [],
  });
}

test('if every dry run is forbidden, this is reported once, and no change is refused', () => {
  const { plan, problems } = planWith([FORBIDDEN, FORBIDDEN]);
  expect(problems.map(({ code, severity }) => [code, severity])).toEqual([['preview-forbidden', 'warning']]);
  expect(plan.batches[0]?.changes.map((change) => 'preview' in change)).toEqual([false, false]);
});

test('if one dry run was allowed, the forbidden changes are refused', () => {
  const { plan, problems } = planWith([FORBIDDEN, { result: 'accepted' }]);
  expect(problems).toEqual([]);
  expect(plan.batches[0]?.changes.map((change) => 'preview' in change)).toEqual([true, true]);
});
