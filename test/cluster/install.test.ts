// Tests manifests/install: complete, of this version, and admitted under "restricted" by a real server (the embedded
// server has no pod security). In one file, because nearly all checks apply to each row of one table of variants, which
// kubectl renders.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { readConfig } from '#hosts/config/read-config.ts';
import { VERSION } from '#hosts/version.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { formatProblem } from '#std/problem.ts';
import { temporaryFolder } from '../harness/git-server.ts';
import { documentsIn, INSTALL, putUp, rightsOf, rulesOf } from './account.ts';
import { type Files, hasKubectl, type PodTemplate, rendered, templateOf } from './rendered.ts';
import { openServer, type SuiteServer } from './server.ts';

const isReal = (process.env.KUBECONFIG ?? '') !== '';
const GUIDE = readFileSync(join(INSTALL, '../../docs/install.md'), 'utf8');
const IMAGE = `ghcr.io/skep-dev/skep:${VERSION}`;
const folder = temporaryFolder();
afterAll(() => folder.remove());

const below = (base: string) =>
  Object.fromEntries(
    ['team-a', 'team-b'].map((name) => [
      `${name}/kustomization.yaml`,
      `namespace: ${name}\nresources: [INSTALL/${base}]`,
    ]),
  );
const EDGE = {
  'kustomization.yaml': `namespace: skep-edge
nameSuffix: -edge
resources: [INSTALL/namespace, INSTALL/reconciler, INSTALL/rights, instance.yaml]
components: [INSTALL/instance]
configMapGenerator: [{name: skep-config, namespace: skep, behavior: replace, files: [skep.yaml]}]`,
  'instance.yaml':
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: skep-instance, annotations: {config.kubernetes.io/local-config: 'true'}}, data: {name: edge}}",
  'skep.yaml': readFileSync(join(INSTALL, 'reconciler/skep.yaml'), 'utf8').replace('name: default', 'name: edge'),
};

interface Variant {
  readonly name: string;
  readonly files: Files;
  readonly clusterRoles: readonly string[];
  readonly home?: string;
}

const VARIANTS: readonly Variant[] = [
  {
    name: 'deployment',
    files: { 'kustomization.yaml': 'resources: [INSTALL]' },
    clusterRoles: ['skep-cluster', 'skep-fleet'],
  },
  {
    name: 'cronjob-namespaced',
    files: {
      'kustomization.yaml': 'resources: [INSTALL/namespaced, team-a, team-b]\ncomponents: [INSTALL/cronjob]',
      ...below('one-namespace'),
    },
    clusterRoles: [],
  },
  {
    name: 'teams',
    files: { 'kustomization.yaml': 'resources: [INSTALL/namespaced, team-a, team-b]', ...below('one-team') },
    clusterRoles: [],
  },
  { name: 'second-instance', files: EDGE, clusterRoles: ['skep-cluster-edge', 'skep-fleet-edge'], home: 'skep-edge' },
  {
    name: 'registry-alone',
    files: { 'kustomization.yaml': 'resources: [INSTALL/namespace, INSTALL/registry, INSTALL/postgres]' },
    clusterRoles: [],
  },
];

/** A pod, and the name of what makes it. */
interface Workload {
  readonly name: string;
  readonly pod: PodTemplate;
  readonly claims: readonly string[];
}

function workloadOf(object: KubeObject): Workload[] {
  const pod = templateOf(object);
  const templates = isObject(object.spec) ? object.spec.volumeClaimTemplates : undefined;
  const claims = Array.isArray(templates)
    ? templates.map((claim) => (claim as unknown as KubeObject).metadata.name)
    : [];
  return pod === undefined ? [] : [{ name: object.metadata.name, pod, claims }];
}

describe.skipIf(!hasKubectl).each(VARIANTS)('$name', ({ name, files, clusterRoles, home: own = 'skep' }) => {
  let objects: readonly KubeObject[];
  let workloads: readonly Workload[];

  beforeAll(() => {
    objects = rendered(join(folder.path, name), files);
    workloads = objects.flatMap(workloadOf);
    expect(workloads.length).toBeGreaterThan(0);
  });

  const only = (kind: string) => objects.filter((object) => object.kind === kind);
  const named = (kind: string) => only(kind).map(({ metadata }) => metadata.name);
  const containersOf = ({ pod }: Workload) => [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const portsOf = ({ pod }: Workload): string[] =>
    pod.spec.containers.flatMap(({ ports = [] }: { ports?: JsonObject[] }) => ports.map((port) => port.name));

  test('what pods name exists', () => {
    const maps = workloads.flatMap(({ pod, claims, ...rest }) => {
      const { serviceAccountName, volumes } = pod.spec;
      expect(named('ServiceAccount')).toContain(serviceAccountName);
      const volumeNames: string[] = [...volumes.map((volume: JsonObject) => volume.name), ...claims];
      const containers = containersOf({ pod, claims, ...rest });
      const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map((mount: JsonObject) => mount.name));
      expect([...new Set(mounted)].toSorted()).toEqual(volumeNames.toSorted());
      return volumes.flatMap((volume: { configMap?: JsonObject }) => volume.configMap?.name ?? []);
    });
    expect(named('ConfigMap').toSorted()).toEqual([...new Set(maps)].toSorted());
  });

  test('Secrets that have to be there are made in the guide', () => {
    const secrets = workloads.flatMap(({ pod }) =>
      pod.spec.volumes.flatMap(({ secret }: { secret?: JsonObject }) => secret ?? []),
    );
    const needed = secrets.filter(({ optional }) => optional !== true).map(({ secretName }) => secretName);
    expect(needed.filter((secret) => !GUIDE.includes(`create secret generic ${secret} `))).toEqual([]);
  });

  test('bindings, ports and selectors lead to what is there', () => {
    for (const binding of objects.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
      const { roleRef, subjects } = binding as unknown as { roleRef: JsonObject; subjects: JsonObject[] };
      expect(named(String(roleRef.kind))).toContain(roleRef.name);
      expect(subjects).toHaveLength(1);
      const accounts = only('ServiceAccount').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(accounts).toContain(`${subjects[0]?.namespace}/${subjects[0]?.name}`);
    }
    for (const workload of workloads) {
      const asked = containersOf(workload).flatMap(({ livenessProbe, readinessProbe }) =>
        [livenessProbe, readinessProbe].flatMap((probe) => probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? []),
      );
      expect(asked.filter((port) => !portsOf(workload).includes(port))).toEqual([]);
    }
    const chosenBy = (labels: object) =>
      workloads.filter(({ pod }) => Object.entries(labels).every(([key, value]) => pod.metadata.labels[key] === value));
    for (const { spec } of only('Service') as unknown as { spec: { selector: object; ports: JsonObject[] } }[]) {
      const [workload, ...others] = chosenBy(spec.selector);
      expect([workload !== undefined, others]).toEqual([true, []]);
      const ports = workload === undefined ? [] : portsOf(workload);
      expect(spec.ports.filter(({ targetPort }) => !ports.includes(String(targetPort)))).toEqual([]);
    }
    const closed = only('NetworkPolicy').map(({ spec }) => {
      const { podSelector, ingress } = spec as unknown as {
        podSelector: { matchLabels: object };
        ingress: { ports: JsonObject[] }[];
      };
      const [workload, ...others] = chosenBy(podSelector.matchLabels);
      expect([workload !== undefined, others]).toEqual([true, []]);
      const ports = workload === undefined ? [] : portsOf(workload);
      expect(ingress.flatMap((rule) => rule.ports.filter(({ port }) => !ports.includes(String(port))))).toEqual([]);
      return workload?.name;
    });
    expect(closed.toSorted()).toEqual(workloads.map((workload) => workload.name).toSorted());
    for (const { spec } of only('PodDisruptionBudget') as unknown as {
      spec: { selector: { matchLabels: object } };
    }[]) {
      expect(chosenBy(spec.selector.matchLabels)).toHaveLength(1);
    }
  });

  test('what runs is in the namespace that is made, and that one is restricted', () => {
    const elsewhere = objects.filter(({ metadata }) => (metadata.namespace ?? own) !== own);
    expect(elsewhere.filter(({ kind }) => !/^(Role|RoleBinding|ServiceAccount)$/.test(kind))).toEqual([]);
    expect(elsewhere.filter(({ metadata }) => !metadata.namespace?.startsWith('team-'))).toEqual([]);
    const [namespace] = only('Namespace');
    expect(namespace?.metadata.name).toBe(own);
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  test('records are named as the instance is', () => {
    const prefix = name === 'second-instance' ? 'skep-edge' : 'skep-default';
    const roles = only('Role').filter(({ metadata }) => metadata.namespace === own);
    const names = roles.flatMap((role) => rulesOf(role).flatMap(({ resourceNames = [] }) => resourceNames));
    expect(names.filter((each) => each !== prefix && !each.startsWith(`${prefix}-`))).toEqual([]);
    expect(names.length > 0).toBe(
      named('Deployment').some((each) => each !== 'skep-registry') || named('CronJob').length > 0,
    );
  });

  test('everything that is not a definition has our name as a label', () => {
    const without = objects.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'skep');
    expect(without.filter(({ kind }) => kind !== 'CustomResourceDefinition')).toEqual([]);
  });

  test('its configuration is read, and is of this version', () => {
    const own = workloads.flatMap(containersOf).filter(({ image }) => !image.startsWith('docker.io/library/postgres:'));
    expect(own.map(({ image }) => image)).toEqual(own.map(() => IMAGE));
    for (const { data } of only('ConfigMap')) {
      const files = isObject(data) ? data : {};
      if (typeof files['skep.yaml'] === 'string') {
        const config = readConfig({ text: files['skep.yaml'], file: 'skep.yaml', environment: {} });
        // None is named: workloads run the image of the reconciler, which learns it by its pod.
        expect(Object.keys(config.images).toSorted()).toEqual(['pullSecrets', 'verify']);
        expect(own.flatMap(({ env }) => env ?? [])).toContainEqual({
          name: 'POD_NAME',
          valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
        });
        expect(own.flatMap(({ volumeMounts }) => volumeMounts)).toContainEqual({
          name: 'state',
          mountPath: config.stateDir,
        });
      }
      if (typeof files['registry.yaml'] === 'string') {
        const environment = { SKEP_REGISTRY_DATABASE_PASSFILE: '/secrets/migrator/pgpass' };
        const result = readRegistryConfig(files['registry.yaml'], 'registry.yaml', environment);
        if ('problems' in result) throw new Error(result.problems.map(formatProblem).join('\n'));
        expect(result.config.database).toMatchObject({ host: 'skep-postgres', passFile: '/secrets/migrator/pgpass' });
        expect(named('Service')).toContain('skep-postgres');
      }
    }
  });

  test('ClusterRoles are those that it needs', () => {
    expect(named('ClusterRole')).toEqual(clusterRoles);
    expect(named('ClusterRoleBinding')).toEqual(clusterRoles);
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

    test('its pods are admitted', async () => {
      const accounts = named('ServiceAccount').map((account) => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: account, namespace: home },
      }));
      await putUp(server, client, accounts);
      for (const { pod, claims } of workloads) {
        const metadata = { ...pod.metadata, name: 'pod', namespace: home };
        const restartPolicy = pod.spec.restartPolicy ?? 'Always';
        // A StatefulSet adds the volumes of its claims.
        const claimed = claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: claim } }));
        const spec = { ...pod.spec, restartPolicy, volumes: [...pod.spec.volumes, ...claimed] };
        await expect(
          client.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, { force: true, dryRun: true }),
        ).resolves.toBeDefined();
      }
    });
  });
});

const fleetRights = () =>
  documentsIn(readFileSync(join(INSTALL, 'rights/fleet/fleet.yaml'), 'utf8')).filter(
    ({ kind }) => kind === 'ClusterRole',
  );

test.skipIf(!hasKubectl)('each of some namespaces gets the rights of all of them, by a Role', () => {
  const objects = rendered(join(folder.path, 'namespaces'), {
    'kustomization.yaml': 'resources: [team-a, team-b]',
    ...below('one-namespace'),
  });
  const roles = objects.filter(({ kind }) => kind === 'Role');
  const [everywhere] = fleetRights();
  expect(roles.map(({ metadata, rules }) => [metadata.namespace, rules])).toEqual([
    ['team-a', everywhere?.rules],
    ['team-b', everywhere?.rules],
  ]);
  expect(objects).toHaveLength(4);
});

test('a team and the reconciler have between them what a reconciler has alone', () => {
  const roles = documentsIn(readFileSync(join(INSTALL, 'one-team/rights.yaml'), 'utf8'));
  const rights = (objects: readonly KubeObject[]) =>
    new Set(objects.flatMap((role) => rulesOf(role).flatMap(rightsOf)));
  const ofTeam = rights(roles);
  expect(ofTeam.delete('impersonate /serviceaccounts fleet-sync')).toBe(true);
  expect([...ofTeam].toSorted()).toEqual([...rights(fleetRights())].toSorted());
});
