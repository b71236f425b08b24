// What skep.yaml says of every pod reaches every pod, of every kind; what an author says of it wins.

import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { withPlacement } from '#reconciler/kinds/pods/placement.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from '#reconciler/kinds/pods/pod.ts';
import type { JsonObject } from '#std/json.ts';
import { SETTINGS } from './fixture.ts';
import { podsOf } from './pods.ts';

const TOLERATION = { key: 'dedicated', operator: 'Equal', value: 'mcp', effect: 'NoSchedule' };
const PODS = { nodeSelector: { pool: 'mcp' }, tolerations: [TOLERATION], platform: 'kubernetes' } as const;
const EVERYWHERE = { ...SETTINGS, pullSecrets: ['mirror'], pods: PODS };
const OPENSHIFT = { ...SETTINGS, pods: { ...PODS, platform: 'openshift' } } as const;

const WITH_PODS = KINDS.filter((kind) => podsOf(kind).length > 0);

test('five kinds run pods', () => {
  expect(WITH_PODS.map(({ kind }) => kind)).toEqual([
    'EmbeddingServer',
    'MCPRegistry',
    'MCPRemoteProxy',
    'MCPServer',
    'VirtualMCPServer',
  ]);
});

describe.each(WITH_PODS.map((kind) => [kind.kind, kind] as const))('%s', (_name, kind) => {
  test.each(podsOf(kind, EVERYWHERE).map((pod) => [pod.name, pod.spec] as const))('%s', (_pod, spec) => {
    expect(spec.nodeSelector).toEqual({ pool: 'mcp' });
    expect(spec.tolerations).toEqual([TOLERATION]);
    expect(spec.imagePullSecrets).toContainEqual({ name: 'mirror' });
  });

  test('on OpenShift, ids are left to the cluster and all else stays', () => {
    for (const { spec } of podsOf(kind, OPENSHIFT)) {
      expect(spec.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(JSON.stringify(spec)).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
      expect(spec.containers).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            securityContext: expect.objectContaining({ runAsNonRoot: true, capabilities: { drop: ['ALL'] } }),
          }),
        ]),
      );
    }
  });
});

function placed(spec: JsonObject): unknown {
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'any' } };
  const child: KubeObject = { ...object, spec: { template: { spec } } };
  return withPlacement(child, OPENSHIFT).spec;
}

test('what an author says wins', () => {
  const own = {
    nodeSelector: { pool: 'gpu', zone: 'a' },
    tolerations: [{ operator: 'Exists' }],
    securityContext: { ...POD_SECURITY, runAsUser: 70_000 },
    containers: [{ name: 'own', securityContext: { ...CONTAINER_SECURITY, runAsGroup: 70_000 } }, { name: 'bare' }],
  };
  expect(placed(own)).toEqual({
    template: {
      spec: {
        nodeSelector: { pool: 'gpu', zone: 'a' },
        tolerations: [{ operator: 'Exists' }, TOLERATION],
        securityContext: { runAsNonRoot: true, runAsUser: 70_000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'own',
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              privileged: false,
              readOnlyRootFilesystem: true,
              runAsGroup: 70_000,
              runAsNonRoot: true,
            },
          },
          { name: 'bare' },
        ],
      },
    },
  });
});
