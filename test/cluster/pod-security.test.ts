// Every pod that we make is admitted in a namespace that enforces the pod security standard "restricted". The embedded
// server enforces no such standard: there, test/reconciler/kinds/pod-security.test.ts has to do.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { podsOf } from '../reconciler/kinds/pods.ts';
import { failureOf, openServer, type SuiteServer } from './server.ts';

const ENFORCE = { 'pod-security.kubernetes.io/enforce': 'restricted' };
const ACCOUNT = 'pods';

describe.skipIf((process.env.KUBECONFIG ?? '') === '')('where "restricted" is enforced', () => {
  let server: SuiteServer;
  let client: ConnectedCluster;
  let namespace: string;

  beforeAll(async () => {
    server = await openServer();
    client = await server.client('pods');
    namespace = await server.namespace('pods');
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: ENFORCE } };
    await client.apply(object, { force: true });
    const metadata = { name: ACCOUNT, namespace };
    await client.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, { force: true });
  });
  afterAll(() => server.close());

  function admit(spec: object, metadata: object = {}) {
    const pod = { ...spec, serviceAccountName: ACCOUNT };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'pod', namespace }, spec: pod };
    return client.apply(object, { force: true, dryRun: true });
  }

  test('a pod without a security context is refused', async () => {
    const { message } = await failureOf(admit({ containers: [{ name: 'any', image: 'example.com/any:1' }] }));
    expect(message).toContain('PodSecurity');
  });

  const pods = KINDS.flatMap((kind) => podsOf(kind).map((pod) => ({ ...pod, name: `${kind.kind} ${pod.name}` })));

  test.each(pods)('$name', async ({ metadata, spec }) => {
    const volumes = Array.isArray(spec.volumes) ? spec.volumes : [];
    // A StatefulSet adds the volumes of its claims.
    const claims = missingVolumes(spec).map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    await expect(admit({ ...spec, volumes: [...volumes, ...claims] }, metadata)).resolves.toBeDefined();
  });
});

function missingVolumes({ volumes, containers }: { readonly [field: string]: unknown }): string[] {
  const named = (list: unknown): string[] => (Array.isArray(list) ? list.map(({ name }) => String(name)) : []);
  const mounted = Array.isArray(containers) ? containers.flatMap(({ volumeMounts }) => named(volumeMounts)) : [];
  return [...new Set(mounted)].filter((name) => !named(volumes).includes(name));
}
