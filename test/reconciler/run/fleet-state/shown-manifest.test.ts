// The manifest of a resource and its differences as the console shows them: no value of a Secret or of an encrypted
// document is in them.

import { expect, test } from 'vitest';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import CORE from '#kubernetes/rules/schemas/core_v1.json' with { type: 'json' };
import { readLiveDetail, shownManifest } from '#reconciler/run/fleet-state/resource-detail.ts';

function sourced(object: KubeObject, sealed?: true) {
  const place = () => ({ file: 'key.yaml', line: 1, column: 1 });
  return { id: idOf(object), object, kind: undefined, source: 'fleet', place, ...(sealed && { sealed }) };
}

function shownOf(object: KubeObject, sealed?: true) {
  return shownManifest(sourced(object, sealed));
}

const metadata = { name: 'key', namespace: 'tools', annotations: { note: 'hunter2' } };

test('a Secret shows its type and the names of its keys, and no value, whatever the key is called', () => {
  const data = { type: 'hunter2', kind: 'hunter2', key: 'hunter2' };
  const shown = shownOf({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData: data });
  expect(shown).toMatchObject({ type: 'Opaque', stringData: { type: '***', kind: '***', key: '***' } });
  expect(JSON.stringify(shown)).not.toContain('hunter2');
});

test('an encrypted document of another kind shows no value', () => {
  const data = { apiVersion: 'v1', kind: 'ConfigMap', metadata, type: 'hunter2', data: { type: 'hunter2' } };
  expect(JSON.stringify(shownOf(data, true))).not.toContain('hunter2');
});

test.each([
  { reason: 'values of an encrypted document are masked', sealed: true, shows: ['*** (before)', '*** (after)'] },
  { reason: 'values of a readable document are shown', sealed: undefined, shows: ['hunter1', 'hunter2'] },
] as const)('in differences, $reason', async ({ sealed, shows }) => {
  const named = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'key', namespace: 'tools' } };
  const id = idOf(named);
  const [before, after] = ['hunter1', 'hunter2'].map((value) => ({ ...named, data: { key: value } }));
  const fieldsV1 = { 'f:data': { 'f:key': {} } };
  const managed = [
    { manager: 'skep-test', operation: 'Apply' as const, apiVersion: 'v1', fieldsType: 'FieldsV1' as const, fieldsV1 },
  ];
  const live: KubeObject = { ...named, ...before, metadata: { ...named.metadata, managedFields: managed } };
  const cluster = {
    get: async () => live,
    list: async () => [],
    schema: async () => Object(CORE),
    resources: async () => [],
    podReads: { events: async () => ({ events: [], complete: true }) },
  };
  const options = { instance: 'test', homeNamespace: 'skep', conflicts: 'force' } as const;
  const desired = [{ object: after ?? named, id, key: keyOf(id) }];
  const known = { id, loaded: sourced(named, sealed), desired, problems: [], outcomes: [] };
  const { objects } = await readLiveDetail(cluster, options, known);
  expect(objects[0]?.differences).toEqual([{ path: '/data/key', before: shows[0], after: shows[1] }]);
});
