// Tests that registries in the cluster are read with the defaults of their kind, whatever tool has written them.

import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Json } from '#std/json.ts';
import { KINDS } from '../../kinds/index.ts';
import { applySetId, PART_OF } from '../labels.ts';
import { livingRegistries } from './living-registries.ts';

const OPTIONS = { instance: 'prod', homeNamespace: 'skep', kinds: KINDS, apiGroup: 'toolhive.stacklok.dev' };

function registry(name: string, registries: Json, partOf = applySetId('prod', 'skep')): KubeObject {
  const metadata = { name, namespace: 'tools', uid: `uid-${name}`, labels: { [PART_OF]: partOf } };
  return { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPRegistry', metadata, spec: { registries } };
}

const SOURCE = { name: 'all', configMapRef: { name: 'servers', key: 'registry.json' } };

test('returns our registries with defaults, without deleted, foreign and unreadable registries', () => {
  const leaving = registry('leaving', [SOURCE]);
  const objects = [
    registry('catalogue', [SOURCE]),
    registry('of-somebody', [SOURCE], 'other'),
    registry('spoilt', [{ ...SOURCE, filter: { names: { include: 'everything' } } }]),
    registry('of-another-time', 'all of them'),
    { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
  ];
  const { loaded } = livingRegistries(OPTIONS, { objects: () => objects });
  expect(loaded.map(({ id, defaulted }) => [id.name, defaulted?.spec.registries])).toEqual([
    ['catalogue', [{ format: 'toolhive', ...SOURCE }]],
  ]);
});
