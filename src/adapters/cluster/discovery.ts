// Lists the kinds that the API server serves, from its aggregated discovery (since Kubernetes 1.30) or group by group.

import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject, objectsIn, textsIn } from '#std/json.ts';
import type { ClusterApi } from './api.ts';
import { readJson } from './json-answer.ts';

export interface Discovered {
  /**
   * All kinds, each in the first version of its group that has the kind. A group's versions are in the order of the
   * discovery response.
   */
  readonly preferred: readonly ApiResource[];
  /** Finds a kind in any served version. */
  find(apiVersion: string, kind: string): ApiResource | undefined;
}

const AGGREGATED = ['v2', 'v2beta1'].map(
  (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');

/** Kinds by version of one group. The preferred version is first. */
type ApiGroup = readonly (readonly ApiResource[])[];

export async function discover(api: ClusterApi): Promise<Discovered> {
  const [core, named] = await Promise.all([discoverRoot(api, '/api'), discoverRoot(api, '/apis')]);
  const groups = [...core, ...named];
  const byKind = new Map(groups.flat(2).map((resource) => [kindKey(resource.apiVersion, resource.kind), resource]));
  return {
    preferred: groups.flatMap(preferredOf),
    find: (apiVersion, kind) => byKind.get(kindKey(apiVersion, kind)),
  };
}

function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** Returns each kind in the first version of the group that has the kind. */
function preferredOf(versions: ApiGroup): ApiResource[] {
  const chosen = new Map<string, ApiResource>();
  for (const resource of versions.flat()) {
    if (!chosen.has(resource.plural)) chosen.set(resource.plural, resource);
  }
  return [...chosen.values()];
}

async function discoverRoot(api: ClusterApi, root: '/api' | '/apis'): Promise<ApiGroup[]> {
  const answer = await readJson(api, root, { accept: ACCEPT });
  if (answer.kind === 'APIGroupDiscoveryList') return objectsIn(answer.items).map(aggregatedGroup);
  if (root === '/api') return [await Promise.all(textsIn(answer.versions).map((version) => listVersion(api, version)))];
  return Promise.all(objectsIn(answer.groups).map((group) => listGroup(api, group)));
}

/** Parses an APIGroupDiscovery of `apidiscovery.k8s.io/v2`. */
function aggregatedGroup(group: JsonObject): ApiGroup {
  const name = isObject(group.metadata) ? stringOr(group.metadata.name) : '';
  return objectsIn(group.versions).map((version) => {
    const apiVersion = name === '' ? stringOr(version.version) : `${name}/${stringOr(version.version)}`;
    return objectsIn(version.resources).flatMap((resource) => {
      const kind = isObject(resource.responseKind) ? stringOr(resource.responseKind.kind) : '';
      const plural = stringOr(resource.resource);
      if (kind === '' || plural === '') return [];
      return [
        { apiVersion, kind, plural, namespaced: resource.scope === 'Namespaced', verbs: textsIn(resource.verbs) },
      ];
    });
  });
}

/**
 * Lists the versions of a `v1` APIGroup: `preferredVersion`, then the other `versions` in the order of the response.
 */
async function listGroup(api: ClusterApi, group: JsonObject): Promise<ApiGroup> {
  const preferred = isObject(group.preferredVersion) ? stringOr(group.preferredVersion.groupVersion) : '';
  const served = objectsIn(group.versions).map((version) => stringOr(version.groupVersion));
  const ordered = [preferred, ...served.filter((version) => version !== preferred)].filter((version) => version !== '');
  return Promise.all(ordered.map((version) => listVersion(api, version)));
}

/**
 * Reads a `v1` APIResourceList. If the extension server of the version is down, returns no kinds, so that other groups
 * still work.
 */
async function listVersion(api: ClusterApi, apiVersion: string): Promise<ApiResource[]> {
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    const answer = await readJson(api, path);
    return objectsIn(answer.resources).flatMap(({ name, kind, namespaced, verbs }) => {
      const plural = stringOr(name);
      if (plural === '' || plural.includes('/')) return [];
      return [{ apiVersion, kind: stringOr(kind), plural, namespaced: namespaced === true, verbs: textsIn(verbs) }];
    });
  } catch (error) {
    const down = error instanceof Failure && ['cluster-busy', 'cluster-not-found'].includes(error.code);
    if (down && apiVersion.includes('/')) return [];
    throw error;
  }
}

function stringOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
