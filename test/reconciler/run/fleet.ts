// Manifests for tests of the run, and what exists of them: everything that carries the instance's label.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { formatId } from '#std/problem.ts';
import type { TestRepository } from '../../harness/git-server.ts';

export const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata: {name: tools}
`;

export const GROUP = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: {name: team, namespace: tools}
spec: {description: What the team uses}
`;

export function server(name: string, version = '1.0.0'): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}, namespace: tools}
spec:
  image: images.example.com/${name}:${version}
  transport: stdio
  groupRef: team
`;
}

/** The files of a commit: namespace, group, and one file per server, its name to its version. */
export function fleetFiles(servers: Readonly<Record<string, string>>): Record<string, string> {
  const files = Object.entries(servers).map(([name, version]) => [`cluster/${name}.yaml`, server(name, version)]);
  return { 'cluster/base.yaml': `${NAMESPACE}---\n${GROUP}`, ...Object.fromEntries(files) };
}

/** What exists of the instance's set, being deleted or not, by `namespace/Kind/name`. */
export async function members(client: ConnectedCluster, instance: string): Promise<Map<string, KubeObject>> {
  const applySet = applySetId(instance, 'default');
  const resources = (await client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const lists = await Promise.all(resources.map((each) => client.list(each)));
  const ours = lists.flat().filter(({ metadata }) => metadata.labels?.[PART_OF] === applySet);
  return new Map(ours.map((object): [string, KubeObject] => [formatId(idOf(object)), object]).sort(byId));
}

function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

export function versionsOf(objects: ReadonlyMap<string, KubeObject>): Record<string, string | undefined> {
  return Object.fromEntries([...objects].map(([id, { metadata }]) => [id, metadata.resourceVersion]));
}

/** Commits exactly these servers, whatever the last commit had. Files in folders of their own stay. */
export function publish(fleet: TestRepository, servers: Readonly<Record<string, string>>): string {
  const files = fleetFiles(servers);
  const tracked = fleet.git('ls-files', ':(glob)cluster/*').split('\n');
  const gone = tracked.filter((path) => path !== '' && files[path] === undefined);
  return fleet.commit({ ...Object.fromEntries(gone.map((path) => [path, undefined])), ...files });
}

/** Defines a kind that neither skep nor Kubernetes has. */
export const WIDGETS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
