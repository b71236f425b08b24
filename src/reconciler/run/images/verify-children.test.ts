import { expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { idOf, keyOf } from '#kubernetes/rules/object.ts';
import { NO_REUSE } from '../reuse.ts';
import { podImages } from './pod-images.ts';
import { verifyChildren } from './verify-children.ts';

function workload(image: string, annotations: Record<string, string> = {}): KubeObject {
  const metadata = { name: 'wiki', namespace: 'tools', annotations };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { template: { spec: { containers: [{ image }] } } },
  };
}

const PINNED = `wiki:1@sha256:${'a'.repeat(64)}`;
const LIVE = workload(PINNED, {
  'skep.dev/signed-images': `${PINNED}: a signature by key x`,
  'skep.dev/image-provenance': JSON.stringify({ [PINNED]: [{ predicateType: 'https://slsa.dev/provenance/v1' }] }),
});

test.each([
  ['the same tag keeps the digest that it has in the cluster', 'wiki:1', LIVE, PINNED],
  ['another tag has none', 'wiki:2', LIVE, 'wiki:2'],
  ['a child that does not exist has none', 'wiki:1', undefined, 'wiki:1'],
])('without access to registries, %s', async (_what, image, live, expected) => {
  const object = workload(image);
  const id = idOf(object);
  const owner = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'tools', name: 'wiki' };
  const { desires } = await verifyChildren({
    policy: { mode: 'require', namespaces: [], pin: false, rules: [] },
    verifier: undefined,
    own: [],
    entries: () => new Map(),
    resolved: { standings: [], problems: [] },
    desires: { objects: [{ object, id, key: keyOf(id), owner }], heldOwners: new Set() },
    living: () => live,
    reuse: NO_REUSE,
  });
  const [child] = desires.objects;
  expect(child && podImages(child.object)?.images).toEqual([expected]);
  if (expected === PINNED) expect(child?.object.metadata.annotations).toEqual(LIVE.metadata.annotations);
});
