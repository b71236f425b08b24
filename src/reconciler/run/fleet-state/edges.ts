// Finds the entries of the console to which a resource refers: references in its spec, and registries that list the
// resource as a running server.

import { formatId, type ResourceId } from '#std/problem.ts';
import type { View } from '../../kinds/kind.ts';
import type { Sourced } from '../read/sourced.ts';
import type { EntryRole } from './format.ts';

type ReferringResource = Pick<Sourced, 'id' | 'kind' | 'defaulted' | 'legible'>;

/** Returns a function that returns the ids of all entries to which a resource refers. */
export function openEdges(loaded: readonly ReferringResource[]): (resource: ReferringResource) => readonly string[] {
  const ids = new Map(loaded.map(({ id }) => [nameKey(id), id]));
  const registries = loaded.flatMap(listsServers);
  return ({ id, kind, defaulted, legible }) => {
    const resource = defaulted ?? legible;
    if (kind === undefined || resource === undefined) return [];
    const { namespace = '' } = id;
    const references = kind.references(resource).flatMap((each) => ids.get(nameKey({ ...each, namespace })) ?? []);
    const isListed = defaulted !== undefined && kind.exposes(defaulted, NOTHING).some(({ listing }) => listing);
    const listing = isListed ? registries.filter((each) => each.lists(namespace)) : [];
    return [...new Set([...references, ...listing.map((registry) => registry.id)].map(formatId))];
  };
}

/** An empty view. The spec of a resource alone says whether it requests an entry in registries. */
const NOTHING: View = { find: () => undefined, all: () => [] };

interface ListingRegistry {
  readonly id: ResourceId;
  readonly lists: (namespace: string) => boolean;
}

function listsServers({ id, kind, defaulted }: ReferringResource): readonly ListingRegistry[] {
  const sources = kind === undefined || defaulted === undefined ? [] : kind.sources(defaulted);
  return sources.flatMap(({ origin }) => {
    if (origin.type !== 'fleet') return [];
    const { namespaces } = origin;
    return [{ id, lists: (namespace: string) => namespaces === 'all' || namespaces.includes(namespace) }];
  });
}

function nameKey({ namespace = '', kind, name }: Pick<ResourceId, 'namespace' | 'kind' | 'name'>): string {
  return `${namespace}/${kind}/${name}`;
}

const ROLES: Readonly<Record<string, EntryRole>> = {
  MCPServer: 'server',
  MCPRemoteProxy: 'server',
  MCPServerEntry: 'server',
  VirtualMCPServer: 'virtual-server',
  MCPGroup: 'group',
  MCPRegistry: 'registry',
};

export function roleOf(kind: string): EntryRole {
  return ROLES[kind] ?? 'settings';
}
