// The account of manifests/install and its rights, put up under names of one test run, and who asks with them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { connect } from '../recordings/api.ts';
import { eventually, type SuiteServer } from './server.ts';

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

const ACCOUNT = ['reconciler/account.yaml', 'reconciler/rights-at-home.yaml'];

/**
 * Account and rights as they are installed: in `home`, for the API group of the run, and with names that no one has.
 * `instance`: what skep.yaml calls it.
 */
export function rightsFor(home: string, group: string, instance = 'default'): KubeObject[] {
  return installed([...ACCOUNT, 'rights/fleet/fleet.yaml', 'rights/cluster.yaml'], { home, group, instance });
}

/** The same without ClusterRoles, for one namespace that is kept (manifests/install/namespaced and one-namespace). */
export function rightsIn(home: string, kept: string, group: string, instance = 'default'): KubeObject[] {
  const own = { home, group, instance };
  const fleet = installed(['rights/fleet/fleet.yaml'], own).map((object): KubeObject => {
    const { roleRef } = object;
    const reference = isObject(roleRef) ? { roleRef: { ...roleRef, kind: 'Role' } } : {};
    return inside({ ...object, kind: object.kind.slice('Cluster'.length), ...reference }, kept);
  });
  return [...installed([...ACCOUNT, 'rights/home/records.yaml'], own), ...fleet];
}

/** The same, where sources have accounts of their own in their namespaces (manifests/install/namespaced and one-team). */
export function rightsForTeams(home: string, teams: readonly string[], group: string): KubeObject[] {
  const own = { home, group, instance: 'default' };
  const files = [...ACCOUNT, 'rights/home/records.yaml'];
  const ofTeams = teams.flatMap((team) =>
    ['one-team/account.yaml', 'one-team/rights.yaml']
      .flatMap((file) => installed([file], own))
      .map((object) => inside(object, team))
      .map((object) => (object.metadata.name === 'fleet-sync' ? withSubjectsIn(object, team) : object)),
  );
  return [...installed(files, own), ...ofTeams];
}

interface Own {
  readonly home: string;
  readonly group: string;
  readonly instance: string;
}

function installed(files: readonly string[], { home, group, instance }: Own): KubeObject[] {
  return files
    .flatMap((file) => documentsIn(readFileSync(join(INSTALL, file), 'utf8')))
    .map((object) => JSON.stringify(object).replaceAll('toolhive.stacklok.dev', group))
    .map((text) => JSON.parse(text.replaceAll('"skep-default', `"skep-${instance}`)) as KubeObject)
    .map((object) => (object.kind.startsWith('Cluster') ? renamed(object, home) : inside(object, home)))
    .map((object) => withSubjectsIn(object, home));
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

/** As a pod would find it: a token of the account, and the account's namespace. */
export async function writeKubeconfigOfAccount(admin: string, namespace: string, path: string, account = 'skep') {
  const api = await connect(admin);
  const { status, body } = await api.call({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
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
    users: [{ name: account, user: { token: answer.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: account, namespace } }],
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

interface Reconciler {
  readonly home: string;
  readonly group: string;
  readonly instance?: string;
}

/** A kubeconfig with a token of the account that has its rights; where there are no rights (embedded), the admin's. */
export async function kubeconfigOfReconciler(
  server: SuiteServer,
  { home, group, instance }: Reconciler,
): Promise<string> {
  if (!server.isReal) return server.kubeconfig;
  await putUp(server, await server.client('suite'), rightsFor(home, group, instance));
  const dir = mkdtempSync(join(tmpdir(), 'account-'));
  server.atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'kubeconfig');
  await writeKubeconfigOfAccount(server.kubeconfig, home, path);
  await untilKnown(await server.client('probe', path), home);
  return path;
}

/** Rights reach the server's memory a moment after they are stored. */
async function untilKnown(client: ConnectedCluster, home: string): Promise<void> {
  const asked = [
    { apiVersion: 'v1', kind: 'Namespace', name: home },
    { apiVersion: 'v1', kind: 'ConfigMap', namespace: home, name: 'none' },
  ];
  for (const id of asked) {
    await eventually(
      () => client.get(id).then(() => true, isForbidden),
      (allowed) => allowed,
    );
  }
}

function isForbidden(error: unknown): false {
  if (error instanceof Failure && error.code === 'cluster-forbidden') return false;
  throw error;
}
