// The manifest of a resource as the console shows it: no value of a Secret or of an encrypted document is in it.

import { expect, test } from 'vitest';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { shownManifest } from '#reconciler/run/fleet-state/resource-detail.ts';

function shownOf(object: KubeObject, sealed?: true) {
  const place = () => ({ file: 'key.yaml', line: 1, column: 1 });
  return shownManifest({
    id: idOf(object),
    object,
    kind: undefined,
    source: 'fleet',
    place,
    ...(sealed && { sealed }),
  });
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
