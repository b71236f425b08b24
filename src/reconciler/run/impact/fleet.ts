// Gathers one state of a fleet: endpoints with the tools that clients see, and registries. Entries of a registry are
// known only if they are in a ConfigMap.

import type { RegistrySource } from '#contracts/registry/source.ts';
import { type Aggregated, aggregatedTools } from '#contracts/virtual-model/aggregate.ts';
import { ANY_TOOL, shownTools, type Tool } from '#contracts/virtual-model/tools.ts';
import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { toolsByPlace } from '#registry/catalogue/entry.ts';
import { entryFilter } from '#registry/catalogue/filter.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Endpoint, Kind, OfferedMember } from '../../kinds/kind.ts';
import type { ReadEntries } from '../catalogue/declared-entries.ts';
import { readableResources } from '../observe/readable-resources.ts';
import { openViews } from '../observe/view.ts';

export interface FleetInput {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly objects: readonly KubeObject[];
  readonly read: ReadEntries;
}

/** A fleet before the tools of its endpoints are computed. */
export interface Gathered extends Pick<FleetState, 'registries'> {
  readonly members: ReadonlyMap<string, FleetMember>;
  /** Names of tools, by image or URL of the server. */
  readonly known: ReadonlyMap<string, readonly string[]>;
}

/** Endpoints by key of the resource. Registries by key and source name, because a registry may have several sources. */
export interface FleetState {
  readonly endpoints: ReadonlyMap<string, OpenEndpoint>;
  readonly registries: ReadonlyMap<string, OpenRegistry>;
}

export interface OpenEndpoint extends Endpoint {
  readonly id: ResourceId;
  readonly aggregated: Aggregated;
}

export interface OpenRegistry {
  readonly id: ResourceId;
  readonly source: RegistrySource;
  /** If undefined, the entries are not in a ConfigMap. */
  readonly entries: readonly CatalogueEntry[] | undefined;
}

interface FleetMember {
  readonly id: ResourceId;
  readonly endpoint: Endpoint;
}

export function gatherFleet({ kinds, apiGroup, objects, read }: FleetInput): Gathered {
  const views = openViews({ apiGroup, layers: [objects] });
  const registries = new Map<string, OpenRegistry>();
  const members = new Map<string, FleetMember>();
  for (const { kind, resource } of readableResources(kinds, apiGroup, objects)) {
    const id = idOf(resource);
    const view = views(id.namespace ?? '');
    for (const endpoint of kind.exposes(resource, view)) members.set(keyOf(id), { id, endpoint });
    for (const source of kind.sources(resource)) {
      registries.set(`${keyOf(id)}/${source.name}`, { id, source, entries: read(source, view) });
    }
  }
  const known = toolsByPlace([...registries.values()].flatMap(({ entries }) => entries ?? []));
  return { members, registries, known };
}

/**
 * Computes the tools of each endpoint. `elsewhere` are tools that registries list in the other state, before or after
 * the change. An image has the same tools in both states, even if only one state has a registry that lists the tools.
 */
export function openFleet({ members, registries, known }: Gathered, elsewhere: Gathered['known']): FleetState {
  const all = { members, known: new Map([...elsewhere, ...known]) };
  const endpoints = [...members].map(([key, { id, endpoint }]): [string, OpenEndpoint] => {
    return [key, { ...endpoint, id, aggregated: toolsAt(all, id, endpoint) }];
  });
  return { endpoints: new Map(endpoints), registries };
}

/** Returns the entries that pass the filter of the source; undefined if the entries are unknown. */
export function keptEntries({ source, entries }: OpenRegistry): readonly CatalogueEntry[] | undefined {
  const filter = entryFilter(source.filter);
  return entries?.filter((entry) => filter.accepts(entry));
}

type KnownMembers = Pick<Gathered, 'members' | 'known'>;

function toolsAt(all: KnownMembers, id: ResourceId, { offer }: Endpoint): Aggregated {
  if (offer.type === 'server') return { tools: shownTools(ownTools(all, offer.server), offer.shown), clashes: [] };
  const members = offer.members.map((member) => {
    const { workload, shown, hidden } = member;
    return { workload, ...shown, hidden, tools: memberTools(all, id, member) };
  });
  const { tools, clashes } = aggregatedTools(members, offer.resolution);
  const workflows = offer.workflows.map((name): Tool => ({ origin: `workflow ${name}`, name }));
  return { tools: [...tools, ...workflows], clashes };
}

/**
 * Returns the tools of a member after the member's own renames and filters. The virtual server then applies its own
 * renames and filters to the result.
 */
function memberTools(all: KnownMembers, { apiVersion, namespace }: ResourceId, member: OfferedMember): readonly Tool[] {
  const { workload: name, kind, url } = member;
  const where = namespace === undefined ? {} : { namespace };
  const found = kind === undefined ? undefined : all.members.get(keyOf({ apiVersion, kind, name, ...where }));
  const { offer } = found?.endpoint ?? {};
  if (offer?.type !== 'server') return ownTools(all, { url });
  return shownTools(ownTools(all, offer.server), offer.shown);
}

function ownTools(
  { known }: KnownMembers,
  server: { readonly image: string } | { readonly url: string },
): readonly Tool[] {
  const tools = known.get('image' in server ? server.image : server.url);
  return tools === undefined ? [ANY_TOOL] : tools.map((name) => ({ origin: name, name, member: '' }));
}
