// Which kinds the API server serves, from its aggregated discovery (Kubernetes 1.30 on) or group by group. Knows nothing
// about objects.

import type { ApiResource } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { Api } from './api.ts';
import { readJson } from './json-answer.ts';

export interface Discovered {
  /** Of each kind the version that the server prefers among those that have it. */
  readonly preferred: readonly ApiResource[];
  /** In any version that is served. */
  find(apiVersion: string, kind: string): ApiResource | undefined;
}

const AGGREGATED = ['v2', 'v2beta1'].map(
  (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');

/** The versions of one group, the preferred one first. */
type Group = readonly (readonly ApiResource[])[];

export async function discover(api: Api): Promise<Discovered> {
  const [core, named] = await Promise.all([discoverRoot(api, '/api'), discoverRoot(api, '/apis')]);
  const groups = [...core, ...named];
  const byKind = new Map(groups.flat(2).map((resource) => [keyOf(resource.apiVersion, resource.kind), resource]));
  return {
    preferred: groups.flatMap(preferredOf),
    find: (apiVersion, kind) => byKind.get(keyOf(apiVersion, kind)),
  };
}

function keyOf(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** A kind may be missing in the version that its group prefers: then the first that has it counts. */
function preferredOf(versions: Group): ApiResource[] {
  const chosen = new Map<string, ApiResource>();
  for (const resource of versions.flat()) {
    if (!chosen.has(resource.plural)) chosen.set(resource.plural, resource);
  }
  return [...chosen.values()];
}

async function discoverRoot(api: Api, root: '/api' | '/apis'): Promise<Group[]> {
  const answer = await readJson(api, root, ACCEPT);
  if (answer.kind === 'APIGroupDiscoveryList') return objects(answer.items).map(aggregatedGroup);
  if (root === '/api') return [await Promise.all(texts(answer.versions).map((version) => listVersion(api, version)))];
  return Promise.all(objects(answer.groups).map((group) => listGroup(api, group)));
}

/** Source: `apidiscovery.k8s.io/v2`, APIGroupDiscovery. */
function aggregatedGroup(group: JsonObject): Group {
  const name = isObject(group.metadata) ? text(group.metadata.name) : '';
  return objects(group.versions).map((version) => {
    const apiVersion = name === '' ? text(version.version) : `${name}/${text(version.version)}`;
    return objects(version.resources).flatMap((resource) => {
      const kind = isObject(resource.responseKind) ? text(resource.responseKind.kind) : '';
      const plural = text(resource.resource);
      if (kind === '' || plural === '') return [];
      return [{ apiVersion, kind, plural, namespaced: resource.scope === 'Namespaced', verbs: texts(resource.verbs) }];
    });
  });
}

/** Source: `v1`, APIGroup: `versions` in the server's order, `preferredVersion` before them. */
async function listGroup(api: Api, group: JsonObject): Promise<Group> {
  const preferred = isObject(group.preferredVersion) ? text(group.preferredVersion.groupVersion) : '';
  const served = objects(group.versions).map((version) => text(version.groupVersion));
  const ordered = [preferred, ...served.filter((version) => version !== preferred)].filter((version) => version !== '');
  return Promise.all(ordered.map((version) => listVersion(api, version)));
}

/** Source: `v1`, APIResourceList. A group whose own server is down has no kinds for now; the others are not its victims. */
async function listVersion(api: Api, apiVersion: string): Promise<ApiResource[]> {
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    const answer = await readJson(api, path, 'application/json');
    return objects(answer.resources).flatMap(({ name, kind, namespaced, verbs }) => {
      const plural = text(name);
      if (plural === '' || plural.includes('/')) return [];
      return [{ apiVersion, kind: text(kind), plural, namespaced: namespaced === true, verbs: texts(verbs) }];
    });
  } catch (error) {
    const down = error instanceof Failure && ['cluster-busy', 'cluster-not-found'].includes(error.code);
    if (down && apiVersion.includes('/')) return [];
    throw error;
  }
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
