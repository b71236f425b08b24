// Tests which pods belong to a workload, by its selector.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { openViews } from './view.ts';

function pod(name: string, namespace: string, labels: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels } };
}

function workload(name: string, spec: KubeObject['spec']): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'docs' }, spec };
}

const PODS = [
  pod('one', 'docs', { app: 'server', instance: 'one' }),
  pod('two', 'docs', { app: 'server', instance: 'two' }),
  pod('elsewhere', 'other', { app: 'server', instance: 'one' }),
];

test.each([
  {
    spec: { selector: { matchLabels: { app: 'server', instance: 'one' } } },
    names: ['one'],
    reason: 'all labels count',
  },
  { spec: { selector: { matchLabels: { app: 'server' } } }, names: ['one', 'two'], reason: 'and no others' },
  { spec: { selector: { matchLabels: { app: 'server', instance: 'three' } } }, names: [], reason: 'one is not enough' },
  { spec: { selector: { matchLabels: {} } }, names: [], reason: 'an empty selector finds none' },
  { spec: {}, names: [], reason: 'neither does a workload without one' },
])('$reason', ({ spec, names }) => {
  const views = openViews({ apiGroup: 'x.dev', layers: [[workload('w', spec)]], pods: PODS });
  expect(
    views('docs')
      .pods?.('Deployment', 'w')
      ?.map(({ metadata }) => metadata.name),
  ).toEqual(names);
});

test('a workload that does not exist has no pods', () => {
  const views = openViews({ apiGroup: 'x.dev', layers: [[]], pods: PODS });
  expect(views('docs').pods?.('Deployment', 'w')).toEqual([]);
});
