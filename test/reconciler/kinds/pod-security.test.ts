// Every pod that we make may run where the pod security standard "restricted" is enforced. Whether these are all of its
// rules, test/cluster/pod-security.test.ts asks a real API server.

import { describe, expect, it } from 'vitest';
import { KINDS } from '#reconciler/kinds/index.ts';
import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { podsOf } from './pods.ts';

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const withPods = KINDS.map((kind) => ({ name: kind.kind, pods: podsOf(kind) })).filter(({ pods }) => pods.length > 0);

it('looks at the pods of every kind that has some', () => {
  const names = withPods.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['EmbeddingServer', 'MCPRegistry', 'MCPRemoteProxy', 'MCPServer']));
});

describe.each(withPods)('$name', ({ pods }) => {
  it.each(pods)('$name', ({ spec }) => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(Object.keys(spec).filter((field) => field.startsWith('host'))).toEqual([]);
    for (const { name: _name, ...source } of objects(spec.volumes)) expect(VOLUMES).toContain(Object.keys(source)[0]);
    for (const container of [...objects(spec.initContainers), ...objects(spec.containers)]) {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      });
    }
  });
});
