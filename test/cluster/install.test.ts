// manifests/install as it is applied: complete, admitted under "restricted", and with the rights that the reconciler needs
// and no others. Kustomize comes with kubectl: where there is none, what is rendered is not looked at. The embedded server
// knows neither rights nor pod security: there, only what a file says is looked at.

import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '../../src/adapters/cluster/connect.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { readConfig } from '../../src/main/config.ts';
import { VERSION } from '../../src/main/version.ts';
import { approve } from '../../src/reconcile/approve.ts';
import type { RunResult } from '../../src/reconcile/result.ts';
import { isObject, type JsonObject } from '../../src/std/json.ts';
import { type GitServer, startGitServer, type TestRepository, temporaryFolder } from '../harness/git-server.ts';
import { documentsIn, INSTALL, putUp, rightsFor, rightsIn, rightsOf, rulesOf } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { type Installed, openInstalled } from './installed.ts';
import { eventually, openServer, type SuiteServer } from './server.ts';

const isReal = (process.env.KUBECONFIG ?? '') !== '';
const folder = temporaryFolder();
afterAll(() => folder.remove());

const hasKubectl = (() => {
  try {
    return execFileSync('kubectl', ['version', '--client'], { stdio: 'pipe' }).length > 0;
  } catch {
    return false;
  }
})();

const oneNamespace = (name: string) => (path: string) => `namespace: ${name}\nresources: [${path}/one-namespace]`;

/** What `kubectl apply -k` would send of a kustomization of somebody's own. */
function rendered(name: string, kustomization: (path: string) => string): readonly KubeObject[] {
  const dir = join(folder.path, name);
  const files = { '.': kustomization, 'team-a': oneNamespace('team-a'), 'team-b': oneNamespace('team-b') };
  for (const [below, text] of Object.entries(files)) {
    const place = join(dir, below);
    mkdirSync(place);
    writeFileSync(join(place, 'kustomization.yaml'), text(relative(place, INSTALL)));
  }
  return documentsIn(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8', maxBuffer: 16 << 20 }));
}

const VARIANTS = [
  { name: 'deployment', kustomization: (path: string) => `resources: [${path}]` },
  {
    name: 'cronjob-namespaced',
    kustomization: (path: string) => `resources: [${path}/namespaced, team-a, team-b]\ncomponents: [${path}/cronjob]`,
  },
];

interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into a pod's spec
  readonly spec: any;
}

function templateOf({ spec }: KubeObject): PodTemplate | undefined {
  const job = isObject(spec) && isObject(spec.jobTemplate) ? spec.jobTemplate.spec : spec;
  return isObject(job) && isObject(job.template) ? (job.template as unknown as PodTemplate) : undefined;
}

describe.skipIf(!hasKubectl).each(VARIANTS)('$name', ({ name, kustomization }) => {
  let objects: readonly KubeObject[];
  let pod: PodTemplate;

  beforeAll(() => {
    objects = rendered(name, kustomization);
    const [template, ...more] = objects.flatMap((object) => templateOf(object) ?? []);
    if (template === undefined || more.length > 0) throw new Error('not one workload');
    pod = template;
  });

  const named = (kind: string) => objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
  const only = (kind: string) => objects.filter((object) => object.kind === kind);

  test('what is named exists', () => {
    const { serviceAccountName, volumes, containers } = pod.spec;
    expect(named('ServiceAccount')).toContain(serviceAccountName);
    const volumeNames = volumes.map((volume: JsonObject) => volume.name);
    const [container] = containers;
    expect(container.volumeMounts.map((mount: JsonObject) => mount.name).toSorted()).toEqual(volumeNames.toSorted());
    const maps = volumes.flatMap((volume: { configMap?: JsonObject }) => volume.configMap?.name ?? []);
    expect(named('ConfigMap')).toEqual(maps);
    for (const binding of objects.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
      const { roleRef, subjects } = binding as unknown as { roleRef: JsonObject; subjects: JsonObject[] };
      expect(named(String(roleRef.kind))).toContain(roleRef.name);
      expect(subjects).toEqual([{ kind: 'ServiceAccount', name: serviceAccountName, namespace: 'skep' }]);
    }
    const ports = (container.ports ?? []).map((port: JsonObject) => port.name);
    const asked = [
      ...only('Service').flatMap(({ spec }) => (spec as { ports: JsonObject[] }).ports.map((port) => port.targetPort)),
      ...[container.livenessProbe, container.readinessProbe].flatMap((probe) => probe?.httpGet.port ?? []),
    ];
    expect(asked.filter((port) => !ports.includes(port))).toEqual([]);
    const selectors = [
      ...only('Service').map(({ spec }) => (spec as { selector: JsonObject }).selector),
      ...only('NetworkPolicy').map(({ spec }) => (spec as { podSelector: { matchLabels: JsonObject } }).podSelector),
    ].map((selector) => (isObject(selector.matchLabels) ? selector.matchLabels : selector));
    expect(selectors.length).toBeGreaterThan(0);
    for (const selector of selectors) expect(pod.metadata.labels).toMatchObject(selector);
  });

  test('everything with a namespace is in the one that is made, and that one is restricted', () => {
    const elsewhere = objects.filter(({ metadata }) => (metadata.namespace ?? 'skep') !== 'skep');
    const teams = elsewhere.filter(({ kind, metadata }) => kind.startsWith('Role') && metadata.name === 'skep-fleet');
    expect(elsewhere).toEqual(teams);
    const [namespace] = only('Namespace');
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  test('its configuration is read, and is of this version', () => {
    const data = only('ConfigMap')[0]?.data;
    const text = isObject(data) ? String(data['skep.yaml']) : '';
    const config = readConfig({ text, file: 'skep.yaml', environment: {} });
    const image = `ghcr.io/skep-dev/skep:${VERSION}`;
    expect([pod.spec.containers[0].image, config.images.proxy, config.images.vmcp, config.images.registry]).toEqual(
      Array(4).fill(image),
    );
    expect(pod.spec.containers[0].volumeMounts).toContainEqual({ name: 'state', mountPath: config.stateDir });
  });

  test('namespaces alone need no ClusterRole', () => {
    expect(named('ClusterRole')).toEqual(name.includes('namespaced') ? [] : ['skep-cluster', 'skep-fleet']);
    expect(named('ClusterRoleBinding')).toEqual(named('ClusterRole'));
  });

  describe.skipIf(!isReal)('on a server', () => {
    let server: SuiteServer;
    let client: ConnectedCluster;
    let home: string;

    beforeAll(async () => {
      server = await openServer();
      client = await server.client('install');
      home = await server.namespace('install');
      const labels = only('Namespace')[0]?.metadata.labels ?? {};
      await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home, labels } }, { force: true });
    });
    afterAll(() => server.close());

    test('all of it is accepted', async () => {
      for (const object of objects) {
        const metadata = {
          ...object.metadata,
          ...(object.metadata.namespace === undefined ? {} : { namespace: home }),
        };
        await expect(client.apply({ ...object, metadata }, { force: true, dryRun: true })).resolves.toBeDefined();
      }
    });

    test('its pod is admitted', async () => {
      await putUp(server, client, [
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'skep', namespace: home } },
      ]);
      const metadata = { ...pod.metadata, name: 'pod', namespace: home };
      const restartPolicy = pod.spec.restartPolicy ?? 'Always';
      const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...pod.spec, restartPolicy } };
      await expect(client.apply(object, { force: true, dryRun: true })).resolves.toBeDefined();
    });
  });
});

test.skipIf(!hasKubectl)('each of some namespaces gets the rights of all of them, by a Role', () => {
  const everywhere = documentsIn(readFileSync(join(INSTALL, 'rights/fleet/fleet.yaml'), 'utf8'))[0];
  const objects = rendered('teams', () => 'resources: [team-a, team-b]');
  const roles = objects.filter(({ kind }) => kind === 'Role');
  expect(roles.map(({ metadata, rules }) => [metadata.namespace, rules])).toEqual([
    ['team-a', everywhere?.rules],
    ['team-b', everywhere?.rules],
  ]);
  expect(objects).toHaveLength(4);
});

/** Rights that this story does not ask for, and what does. */
const ASKED_ELSEWHERE: Readonly<Record<string, string>> = {
  'get apiextensions.k8s.io/customresourcedefinitions': 'objects in Git of a kind of somebody else',
  'get /configmaps skep-default-notified': 'notify.webhooks and notify.commitStatus',
  'update /configmaps skep-default-notified': 'the same, from the second notice on',
  'update /configmaps skep-default-quarantine': 'a run after `skep rollback`, when newer commits have come',
};

describe.skipIf(!isReal)('rights', () => {
  let server: SuiteServer;
  let admin: ConnectedCluster;
  let git: GitServer;
  let repository: TestRepository;
  let installed: Installed;
  let group: string;
  let home: string;
  let settings: object;
  let rights: readonly KubeObject[];
  /** What the Roles among the children give. */
  let given: ReadonlySet<string>;

  beforeAll(async () => {
    server = await openServer();
    admin = await server.client('admin');
    group = newGroup('install');
    home = await server.namespace('home');
    await defineKinds(server, admin, group);
    rights = rightsFor(home, group);
    await putUp(server, admin, rights);
    git = await startGitServer();
    repository = git.createRepository('fleet.git');
    for (const namespace of ['docs', 'ops', 'platform']) {
      server.later({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-${namespace}` });
    }
    settings = {
      apiGroup: group,
      sources: [{ name: 'fleet', repository: `${git.url}/fleet.git`, branch: 'main' }],
      apply: { maxDeletes: 0, waitSeconds: 0 },
      outbound: { allowPrivate: ['127.0.0.0/8'] },
      stateDir: join(folder.path, 'state'),
    };
    const everywhere = { ...settings, policies: ['builtin'] };
    installed = await openInstalled(server, home, { dir: folder.path, settings: everywhere });
  });
  afterAll(async () => {
    await installed?.proxy.close();
    await git?.close();
    await server?.close();
  });

  async function run(by = installed): Promise<RunResult> {
    const result = await by.use((instance) => instance.run());
    const refused = by.proxy.seen.filter(({ status }) => status === 403);
    expect(refused.map(({ method, url }) => [method, url])).toEqual([]);
    return result;
  }

  test('are enough for a fleet with every kind: made, failed, told', async () => {
    repository.commit(sampleFleet(group, (name) => `${home}-${name}`));
    const result = await run();
    expect(result.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    const roles = (await admin.resources()).find(({ kind }) => kind === 'Role');
    if (roles === undefined) throw new Error('no Roles');
    const lists = await Promise.all(['docs', 'ops'].map((name) => admin.list(roles, `${home}-${name}`)));
    const rules = lists.flat().flatMap((role) => rulesOf(role));
    given = new Set(rules.flatMap((rule) => rightsOf({ ...rule, resourceNames: [''] })));
    expect([...given]).toContain('create /pods/attach');
  });

  test('are enough to let it go, once that is approved', async () => {
    repository.commit({ ...gone(sampleFleet(group, (name) => `${home}-${name}`)), 'README.md': 'empty' });
    const waiting = (await run()).plan.guarded;
    if (waiting === undefined) throw new Error('nothing waits');
    // Whoever approves does it with rights of their own.
    await installed.use((instance) =>
      approve({ ...instance.deps, cluster: admin }, instance.options(), waiting.hash, 1),
    );
    const { outcomes } = await run();
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    await eventually(
      () => admin.get({ apiVersion: 'v1', kind: 'Namespace', name: `${home}-docs` }),
      (left) => left === undefined,
    );
  });

  test('are no more than were used, or given on', () => {
    const seen = new Set(installed.proxy.seen.flatMap(rightsUsed));
    // What somebody else writes at the same time is read again, and written after all.
    const used = new Set([...seen].flatMap((right) => [right, right.replace(/^(patch|delete) /, 'get ')]));
    const unused = rights
      .filter(({ kind }) => kind.endsWith('Role'))
      .flatMap((role) => rulesOf(role).flatMap(rightsOf))
      .filter((right) => !used.has(right) && !given.has(right));
    expect(unused.toSorted()).toEqual(Object.keys(ASKED_ELSEWHERE).toSorted());
  });

  test('in a namespace alone are enough for what is in it', async () => {
    const [alone, team] = [await server.namespace('alone'), await server.namespace('team')];
    const dir = join(folder.path, 'alone');
    mkdirSync(dir);
    await putUp(server, admin, rightsIn(alone, team, group));
    const own = { ...settings, namespaces: [team], stateDir: join(dir, 'state') };
    const one = await openInstalled(server, alone, { dir, settings: own });
    const files = sampleFleet(group, () => team, ['docs/*.yaml']);
    repository.commit(files);
    const made = await run(one);
    repository.commit(gone(files));
    const waiting = await run(one);
    await one.proxy.close();
    expect(made.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(made.outcomes.length).toBeGreaterThan(20);
    expect(waiting.plan.guarded?.deletions.length).toBeGreaterThan(5);
  });
});

/** The sample fleet in namespaces and in an API group of the run, and what it has no example of. */
function sampleFleet(
  group: string,
  place: (namespace: string) => string,
  patterns = ['namespaces.yaml', 'docs/*.yaml', 'ops/*.yaml'],
): Record<string, string> {
  const root = join(INSTALL, '../fleet/cluster');
  const texts = globSync(patterns, { cwd: root }).map(
    (file) => [file, readFileSync(join(root, file), 'utf8')] as const,
  );
  const placed = (_: string, before: string, name: string) => `${before}${place(name)}`;
  const own = (text: string) =>
    text
      .replaceAll('toolhive.stacklok.dev', group)
      .replace(/^(\s*namespace: )(\w+)/gm, placed)
      .replace(/^(kind: Namespace\nmetadata:\n {2}name: )(\w+)/gm, placed);
  return Object.fromEntries([...texts, ['more.yaml', MORE] as const].map(([file, text]) => [file, own(text)]));
}

function gone(files: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(files).map((file) => [file, undefined]));
}

/** A Secret and a server that reads it, a policy, a registry over a volume claim, and a server that fails for want of its group. */
const MORE = `apiVersion: v1
kind: Secret
metadata:
  name: key
  namespace: docs
stringData: {key: value}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: closed
  namespace: docs
spec:
  podSelector: {}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata:
  name: mounted
  namespace: docs
spec:
  registries:
    - name: tools
      pvcRef: {claimName: none, path: registry.json}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: keyed
  namespace: docs
spec:
  image: registry.example.com/keyed:1.0.0
  transport: stdio
  secrets: [{name: key, key: key, targetEnvName: KEY}]
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: lost
  namespace: docs
spec:
  image: registry.example.com/lost:1.0.0
  transport: stdio
  groupRef: nobody
`;

/** As the API server names what a request asks for (Kubernetes, "Authorization", request attributes). */
function rightsUsed({ method, url, status }: { method: string; url: string; status: number | undefined }): string[] {
  const [, core, group = core, rest = ''] =
    /^\/(?:api\/(v1)|apis\/([^/]+)\/[^/]+)\/(.+)$/.exec(url.split('?')[0] ?? '') ?? [];
  if (group === undefined) return [];
  const segments = rest.split('/');
  const [resource, name, below] = segments[0] === 'namespaces' && segments.length > 2 ? segments.slice(2) : segments;
  const what = `${group === 'v1' ? '' : group}/${resource}${below === undefined ? '' : `/${below}`}`;
  const verbs = {
    GET: [name === undefined ? 'list' : 'get'],
    POST: ['create'],
    PUT: ['update'],
    PATCH: status === 201 ? ['patch', 'create'] : ['patch'],
    DELETE: ['delete'],
  }[method];
  return (verbs ?? []).flatMap((verb) => [
    `${verb} ${what}`,
    ...(name === undefined ? [] : [`${verb} ${what} ${name}`]),
  ]);
}
