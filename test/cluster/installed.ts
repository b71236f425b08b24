// What manifests/install gives the reconciler, put up under names of one test run: its account, its rights, and an instance
// that works with that account's token and is watched on the wire. Knows nothing about what the tests ask.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { ConnectedCluster } from '../../src/adapters/cluster/connect.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { readConfig } from '../../src/main/config.ts';
import { type Instance, openInstance } from '../../src/main/instance.ts';
import { isObject } from '../../src/std/json.ts';
import { startProxy, type TestProxy } from '../harness/proxy.ts';
import { connect } from '../recordings/api.ts';
import type { SuiteServer } from './server.ts';

export const INSTALL = fileURLToPath(new URL('../../manifests/install', import.meta.url));

export function documentsIn(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export function rulesOf(object: KubeObject): readonly Rule[] {
  return (object.rules ?? []) as unknown as readonly Rule[];
}

/** `verb group/resource`, and ` name` where the rule names one: each is a right of its own. */
export function rightsOf({ apiGroups, resources, verbs, resourceNames = [''] }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
    ),
  );
}

/** Account and rights as they are installed: in `home`, for the API group of the run, and with names that nobody has. */
export function rightsFor(home: string, group: string): KubeObject[] {
  const files = [
    'reconciler/account.yaml',
    'reconciler/rights-at-home.yaml',
    'rights/fleet/fleet.yaml',
    'rights/cluster.yaml',
  ];
  return files
    .flatMap((file) => documentsIn(readFileSync(join(INSTALL, file), 'utf8')))
    .map((object) => JSON.parse(JSON.stringify(object).replaceAll('toolhive.stacklok.dev', group)) as KubeObject)
    .map((object) => (object.kind.startsWith('Cluster') ? renamed(object, home) : inside(object, home)))
    .map((object) => withSubjectsIn(object, home));
}

/** The same without ClusterRoles, for one namespace that is kept (manifests/install/one-namespace). */
export function rightsIn(home: string, kept: string, group: string): KubeObject[] {
  return rightsFor(home, group).flatMap((object): KubeObject[] => {
    if (!object.kind.startsWith('Cluster')) return [object];
    if (!object.metadata.name.startsWith('skep-fleet')) return [];
    const { roleRef } = object;
    const kind = object.kind.slice('Cluster'.length);
    const reference = isObject(roleRef) ? { roleRef: { ...roleRef, kind: 'Role' } } : {};
    return [inside({ ...object, kind, ...reference }, kept)];
  });
}

function inside(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function renamed(object: KubeObject, suffix: string): KubeObject {
  const { roleRef } = object;
  return {
    ...object,
    metadata: { ...object.metadata, name: `${object.metadata.name}-${suffix}` },
    ...(isObject(roleRef) ? { roleRef: { ...roleRef, name: `${roleRef.name}-${suffix}` } } : {}),
  };
}

function withSubjectsIn(object: KubeObject, namespace: string): KubeObject {
  const { subjects } = object;
  if (!Array.isArray(subjects)) return object;
  return { ...object, subjects: subjects.map((subject) => (isObject(subject) ? { ...subject, namespace } : subject)) };
}

export async function putUp(server: SuiteServer, admin: ConnectedCluster, objects: readonly KubeObject[]) {
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object;
    if (metadata.namespace === undefined) server.later({ apiVersion, kind, name: metadata.name });
    await admin.apply(object, { force: true });
  }
}

export interface Installed {
  /** What the instance asked of the API server. */
  readonly proxy: TestProxy;
  use<T>(work: (instance: Instance) => Promise<T>): Promise<T>;
}

/** `settings`: of skep.yaml, without the cluster. */
export async function openInstalled(
  server: SuiteServer,
  home: string,
  { dir, settings }: { readonly dir: string; readonly settings: object },
): Promise<Installed> {
  const kubeconfigPath = join(dir, 'account.kubeconfig');
  const { url, authority } = await writeKubeconfigOfAccount(server.kubeconfig, home, kubeconfigPath);
  const proxy = await startProxy({ url, authority, kubeconfigPath }, () => 'pass');
  return {
    proxy,
    async use(work) {
      const text = JSON.stringify({ ...settings, cluster: { kubeconfig: proxy.kubeconfigPath } });
      const instance = await openInstance(readConfig({ text, file: 'skep.yaml', environment: {} }), () => undefined);
      try {
        return await work(instance);
      } finally {
        await instance.close();
      }
    },
  };
}

/** As a pod would find it: a token of the account, and the account's namespace. */
async function writeKubeconfigOfAccount(admin: string, namespace: string, path: string) {
  const api = await connect(admin);
  const { status, body } = await api.call({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/skep/token`,
    query: {},
    contentType: 'application/json',
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  });
  await api.close();
  const answer = isObject(body) && isObject(body.status) ? body.status : {};
  if (status !== 201 || typeof answer.token !== 'string') throw new Error(`no token: ${JSON.stringify(body)}`);
  const cluster = clusterOf(admin);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'skep', user: { token: answer.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'skep', namespace } }],
    'current-context': 'c',
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  const authority = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString();
  return { url: cluster.server ?? '', authority };
}

function clusterOf(kubeconfig: string): Readonly<Record<string, string>> {
  const [document] = documentsIn(readFileSync(kubeconfig, 'utf8'));
  const [first] = Array.isArray(document?.clusters) ? document.clusters : [];
  return (isObject(first) ? first.cluster : {}) as Record<string, string>;
}
