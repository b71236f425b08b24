// Builds the discovery documents of the served groups, versions and resources: the aggregated document, and one
// document per group-version.

import { createHash } from 'node:crypto';
import type { JsonObject } from '#std/json.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { compareVersions } from '../resources/version-order.ts';

const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly types: readonly ResourceType[];
}

/** Returns the response to `GET /api` or `GET /apis` as APIGroupDiscoveryList (apidiscovery.k8s.io/v2). */
export function aggregatedDiscovery(types: readonly ResourceType[], prefix: 'api' | 'apis'): JsonObject {
  const groups = groupsOf(types.filter((type) => (prefix === 'api') === (type.group === '')));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([name, versions]) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((entry) => ({
        version: entry.version,
        resources: entry.types.map(discoveredResource),
        freshness: 'Current',
      })),
    })),
  };
}

function discoveredResource(type: ResourceType): JsonObject {
  const responseKind = { group: '', version: '', kind: type.kind };
  const subresources = subresourcesOf(type).map(({ name, group, version, kind }) => ({
    subresource: name,
    responseKind: { group, version, kind },
    verbs: verbsOf(name),
  }));
  return {
    resource: type.plural,
    responseKind:
      type.custom === undefined ? responseKind : { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: [...type.verbs],
    ...otherNames(type),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

function otherNames({ shortNames, categories }: ResourceType): JsonObject {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}

function subresourcesOf(type: ResourceType) {
  const own = type.custom === undefined ? { group: '', version: '' } : { group: type.group, version: type.version };
  return [
    ...(type.collection === '/namespaces' ? [{ name: 'finalize', ...own, kind: type.kind }] : []),
    ...(type.scale === undefined ? [] : [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }]),
    ...(type.collection === '/serviceaccounts'
      ? [{ name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }]
      : []),
    ...(type.hasStatus ? [{ name: 'status', ...own, kind: type.kind }] : []),
  ];
}

/** Returns the response to `GET /api`. */
export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** Returns the response to `GET /apis`. */
export function groupList(types: readonly ResourceType[]): JsonObject {
  const groups = groupsOf(types.filter((type) => type.group !== ''));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(([name, versions]) => group(name, versions)) };
}

/** Returns the response to `GET /apis/<group>`. undefined if the group is not served. */
export function oneGroup(types: readonly ResourceType[], name: string): JsonObject | undefined {
  const found = groupsOf(types).find(([candidate]) => candidate === name);
  return found === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...group(...found) };
}

function group(name: string, versions: readonly GroupVersion[]): JsonObject {
  const entries = versions.map((entry) => ({ groupVersion: apiVersionOf(entry), version: entry.version }));
  return { name, versions: entries, ...(entries[0] === undefined ? {} : { preferredVersion: entries[0] }) };
}

/**
 * Returns the response to `GET /api/v1` or `GET /apis/<group>/<version>`. undefined if the group-version is not served.
 */
export function resourceList(types: readonly ResourceType[], name: string, version: string): JsonObject | undefined {
  const served = types.filter((type) => type.group === name && type.version === version);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    ...(name === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group: name, version }),
    resources: [...served].sort(byPlural).flatMap(listedResources),
  };
}

function verbsOf(subresource: string): string[] {
  if (subresource === 'token') return ['create'];
  return subresource === 'finalize' ? ['update'] : [...SUBRESOURCE_VERBS];
}

function listedResources(type: ResourceType): JsonObject[] {
  const { plural, singular, namespaced, kind, verbs } = type;
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: [...verbs],
    ...otherNames(type),
    storageVersionHash: storageVersionHash(type),
  };
  const others = subresourcesOf(type).map((sub) => ({
    name: `${plural}/${sub.name}`,
    singularName: '',
    namespaced,
    ...(['scale', 'token'].includes(sub.name) ? { group: sub.group, version: sub.version } : {}),
    kind: sub.kind,
    verbs: verbsOf(sub.name),
  }));
  return [main, ...others];
}

/** Returns a hash of eight bytes. It changes with the storage version of a kind. */
function storageVersionHash({ group, version, kind }: ResourceType): string {
  // Storage contains one kind for Events of core and events.k8s.io.
  const stored = group === 'events.k8s.io' ? '' : group;
  return createHash('sha256').update(`${stored}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}

/** The order of built-in groups in a real API server. */
const GROUP_ORDER = [
  'apps',
  'events.k8s.io',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'apiextensions.k8s.io',
  'coordination.k8s.io',
];

function rankOf(group: string): number {
  const rank = GROUP_ORDER.indexOf(group);
  return rank < 0 ? GROUP_ORDER.length : rank;
}

/**
 * Returns the groups in GROUP_ORDER, then custom groups in the order of `types`. Sorts the versions of a group by
 * priority: the newest stable version is first.
 */
function groupsOf(types: readonly ResourceType[]): [name: string, versions: GroupVersion[]][] {
  const groups = new Map<string, Map<string, ResourceType[]>>();
  const ranked = [...types].sort((a, b) => rankOf(a.group) - rankOf(b.group));
  for (const type of ranked) {
    const versions = groups.get(type.group) ?? new Map<string, ResourceType[]>();
    groups.set(type.group, versions);
    versions.set(type.version, [...(versions.get(type.version) ?? []), type]);
  }
  return [...groups].map(([name, versions]) => {
    const entries = [...versions].map(([version, served]) => ({ group: name, version, types: served.sort(byPlural) }));
    return [name, entries.sort((a, b) => compareVersions(a.version, b.version))];
  });
}

function byPlural(a: ResourceType, b: ResourceType): number {
  return a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0;
}
