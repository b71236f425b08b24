// Drift, field by field: every field that manifests of sixteen kinds declare is changed, and removed, by others, and something is
// added beside it. The next run sets back what is declared, says so, and leaves alone what is not.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../src/kube/object.ts';
import type { RunResult } from '../../src/reconcile/result.ts';
import { isObject, type Json, type JsonObject, jsonEquals } from '../../src/std/json.ts';
import { startWorld, type World } from '../harness/world.ts';

const OPTIONS = { waitSeconds: 0, children: false } as const;
const GROUP = 'toolhive.stacklok.dev/v1alpha1';
const POD = {
  metadata: { labels: { app: 'one' } },
  spec: { containers: [{ name: 'main', image: 'images.example.com/a:1', env: [{ name: 'LEVEL', value: 'info' }] }] },
};
const SELECTOR = { matchLabels: { app: 'one' } };

/** `path`: of the collection. */
interface Declared {
  readonly path: string;
  readonly object: JsonObject;
}

function declaredIn(apiVersion: string, kind: string, plural: string, content: JsonObject): Declared {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const metadata = { name: 'one', namespace: 'default', labels: { team: 'a' }, annotations: { note: 'b' } };
  return { path: `${root}/namespaces/default/${plural}`, object: { apiVersion, kind, metadata, ...content } };
}

const DECLARED: readonly Declared[] = [
  declaredIn('v1', 'ConfigMap', 'configmaps', { data: { a: 'one', b: 'two' } }),
  declaredIn('v1', 'Secret', 'secrets', { data: { a: 'b25l', b: 'dHdv' } }),
  declaredIn('v1', 'ServiceAccount', 'serviceaccounts', { automountServiceAccountToken: false }),
  declaredIn('v1', 'Service', 'services', {
    spec: {
      selector: { app: 'one' },
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      sessionAffinity: 'ClientIP',
    },
  }),
  declaredIn('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  declaredIn('apps/v1', 'Deployment', 'deployments', {
    spec: { replicas: 2, minReadySeconds: 3, selector: SELECTOR, template: POD },
  }),
  declaredIn('apps/v1', 'StatefulSet', 'statefulsets', {
    spec: { replicas: 2, serviceName: 'one', selector: SELECTOR, template: POD },
  }),
  declaredIn('batch/v1', 'CronJob', 'cronjobs', {
    spec: {
      schedule: '0 1 * * *',
      suspend: true,
      jobTemplate: { spec: { template: { ...POD, spec: { ...POD.spec, restartPolicy: 'Never' } } } },
    },
  }),
  declaredIn('rbac.authorization.k8s.io/v1', 'Role', 'roles', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
  }),
  declaredIn('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
    subjects: [{ kind: 'ServiceAccount', name: 'one', namespace: 'default' }],
  }),
  declaredIn('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', {
    spec: { podSelector: SELECTOR, policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] },
  }),
  declaredIn('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    spec: { minAvailable: 1, selector: SELECTOR },
  }),
  declaredIn('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    spec: {
      minReplicas: 1,
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' },
    },
  }),
  declaredIn(GROUP, 'MCPGroup', 'mcpgroups', { spec: { description: 'a group' } }),
  declaredIn(GROUP, 'MCPServer', 'mcpservers', {
    spec: {
      image: 'images.example.com/a:1',
      transport: 'stdio',
      proxyPort: 9090,
      env: [{ name: 'LEVEL', value: 'info' }],
      args: ['--one', '--two'],
      resources: { limits: { cpu: '1', memory: '64Mi' } },
    },
  }),
  declaredIn(GROUP, 'MCPToolConfig', 'mcptoolconfigs', { spec: { toolsFilter: ['a', 'b'] } }),
];

let world: World;
beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});
afterAll(() => world.close());

/** Pointers of all that is declared and is no map or list itself. */
function leavesOf(value: Json | undefined, pointer = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, `${pointer}/${index}`));
  if (isObject(value)) return Object.entries(value).flatMap(([key, each]) => leavesOf(each, `${pointer}/${key}`));
  return [pointer];
}

function driftable({ object }: Declared): string[] {
  const { apiVersion: _version, kind: _kind, metadata, ...content } = object;
  const { labels, annotations } = metadata as JsonObject;
  return [...leavesOf(content), ...leavesOf({ metadata: { labels, annotations } } as JsonObject)];
}

function at(object: Json | undefined, pointer: string): Json | undefined {
  const parts = pointer.split('/').slice(1);
  return parts.reduce<Json | undefined>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isObject(value) ? value[part] : undefined;
  }, object);
}

function otherThan(value: Json | undefined): Json {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  const text = String(value);
  const known: Readonly<Record<string, string>> = {
    ClientIP: 'None',
    b25l: 'dGhyZWU=',
    dHdv: 'dGhyZWU=',
    '1Gi': '2Gi',
    TCP: 'UDP',
    '0 1 * * *': '0 2 * * *',
    ReadWriteOnce: 'ReadWriteMany',
    Ingress: 'Egress',
    Never: 'OnFailure',
    stdio: 'sse',
    '1': '2',
    '64Mi': '65Mi',
  };
  return known[text] ?? `${text}x`;
}

async function get({ path }: Declared): Promise<KubeObject> {
  const { status, body } = await world.cluster.send('GET', `${path}/one`);
  expect(status).toBe(200);
  return body as KubeObject;
}

/** Counts the templates that a Deployment has had. */
const REVISION = 'deployment.kubernetes.io/revision';

/** What a run may have an opinion about; `replicas` and the like are the same as they are declared. */
function contentOf({ metadata, apiVersion, kind, status: _status, ...content }: KubeObject): JsonObject {
  const { 'skep.dev/run': _run, [REVISION]: _revision, ...annotations } = metadata.annotations ?? {};
  return { apiVersion, kind, metadata: { labels: metadata.labels, annotations }, ...content };
}

/** False where the server takes no such change: then nothing has drifted. */
async function drift(declared: Declared, operation: JsonObject): Promise<boolean> {
  const before = contentOf(await get(declared));
  const request = { body: [operation], contentType: 'application/json-patch+json' };
  const { status } = await world.cluster.send('PATCH', `${declared.path}/one?fieldManager=editor`, request);
  return status === 200 && !jsonEquals(contentOf(await get(declared)), before);
}

function isReported({ outcomes, fields }: RunResult, { object: { kind } }: Declared): boolean {
  const isIt = (resource: { readonly kind: string } | undefined) => resource?.kind === kind;
  return (
    outcomes.some(({ action, resource }) => action === 'configured' && isIt(resource)) ||
    fields.some(({ resource }) => isIt(resource))
  );
}

const CHANGES: Readonly<Record<string, (pointer: string, value: Json | undefined) => JsonObject>> = {
  changed: (path, value) => ({ op: 'replace', path, value: otherThan(value) }),
  removed: (path) => ({ op: 'remove', path }),
};

test.each(Object.keys(CHANGES))(
  'every field of sixteen kinds that is %s is set back, and the run says so',
  async (how) => {
    world.fleet.commit({ 'cluster/all.yaml': DECLARED.map(({ object }) => JSON.stringify(object)).join('\n---\n') });
    const first = await world.run(OPTIONS);
    expect(first.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    const before = new Map<Declared, JsonObject>();
    for (const each of DECLARED) before.set(each, contentOf(await get(each)));
    const rounds = Math.max(...DECLARED.map((each) => driftable(each).length));
    const wrong: string[] = [];
    const drifted = new Map(DECLARED.map((each) => [each, 0]));
    for (let round = 0; round < rounds; round += 1) {
      const done: [Declared, string][] = [];
      for (const each of DECLARED) {
        const pointer = driftable(each)[round];
        if (pointer === undefined) continue;
        const operation = CHANGES[how]?.(pointer, at(each.object, pointer));
        if (operation !== undefined && (await drift(each, operation))) done.push([each, pointer]);
      }
      const run = await world.run(OPTIONS);
      for (const [each, pointer] of done) {
        drifted.set(each, (drifted.get(each) ?? 0) + 1);
        const now = contentOf(await get(each));
        if (!jsonEquals(now, before.get(each)))
          wrong.push(`${each.object.kind} ${pointer}: ${JSON.stringify(at(now, pointer))}`);
        if (!isReported(run, each)) wrong.push(`${each.object.kind} ${pointer}: not reported`);
      }
    }
    expect(wrong).toEqual([]);
    expect([...drifted].filter(([, count]) => count === 0).map(([{ object }]) => object.kind)).toEqual([]);
  },
);

test('what somebody adds beside what sixteen kinds declare stays, and no run writes for it', async () => {
  await world.run(OPTIONS);
  const left: string[] = [];
  for (const each of DECLARED) {
    if (await drift(each, { op: 'add', path: '/metadata/annotations/added', value: 'by hand' }))
      left.push(String(each.object.kind));
  }
  expect(left).toHaveLength(DECLARED.length);
  expect((await world.run(OPTIONS)).outcomes).toEqual([]);
  for (const each of DECLARED) expect((await get(each)).metadata.annotations?.added).toBe('by hand');
});
