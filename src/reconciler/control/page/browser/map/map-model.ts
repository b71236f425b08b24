// Computes the nodes and edges of the map. Healthy entries in the same place are folded into one node, so that a map of
// a thousand servers has few nodes and still shows each entry that is in trouble.

import { STATE_NAMES } from '#std/page/shared/kit/states.ts';
import type { EntryRole, EntryState, FleetEntry } from '../../../../run/fleet-state/format.ts';
import { TROUBLES } from '../ranks.ts';

export interface MapNode {
  readonly key: string;
  readonly column: number;
  readonly entries: readonly FleetEntry[];
  /** Worst state of the entries in the node. */
  readonly state: EntryState;
  /** True if the node stands for several entries. */
  readonly folded: boolean;
}

interface MapEdge {
  readonly from: string;
  readonly to: string;
}

export interface MapModel {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
}

const COLUMNS: readonly EntryRole[] = ['source', 'group', 'server', 'virtual-server', 'registry'];
/** Maximum number of entries of a place that is not folded. */
const ALONE_MAX = 5;
/** Maximum number of groups with places of their own. With more groups, all entries of a namespace are in one place. */
const GROUPS_MAX = 12;
/** Maximum number of entries in trouble that one place shows; further entries are folded as well. */
const TROUBLED_MAX = 12;
/** Maximum number of nodes of a place that a person has unfolded. */
const UNFOLDED_MAX = 60;

export function mapOf(
  shown: readonly FleetEntry[],
  all: readonly FleetEntry[],
  unfolded: ReadonlySet<string>,
): MapModel {
  const entries = withContext(shown, all).filter(({ role }) => COLUMNS.includes(role));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const isLarge = entries.filter(({ role }) => role === 'group').length > GROUPS_MAX;
  const places = Map.groupBy(entries, (entry) => foldingPlace(entry, isLarge));
  const nodes = [...places].flatMap(([place, own]) => nodesOf(place, own, unfolded, isLarge ? 1 : ALONE_MAX));
  const nodeOf = new Map(nodes.flatMap((node) => node.entries.map(({ id }) => [id, node.key])));
  const edges = new Map<string, MapEdge>();
  for (const [from, to] of entries.flatMap((entry) => linksOf(entry, byId, entries))) {
    const edge = { from: nodeOf.get(from) ?? '', to: nodeOf.get(to) ?? '' };
    if (edge.from !== '' && edge.to !== '' && edge.from !== edge.to) edges.set(`${edge.from} ${edge.to}`, edge);
  }
  return { nodes, edges: [...edges.values()] };
}

/** Returns the shown entries, and the sources, groups and registries that they are connected with. */
function withContext(shown: readonly FleetEntry[], all: readonly FleetEntry[]): readonly FleetEntry[] {
  if (shown.length === all.length) return all;
  const byId = new Map(all.map((entry) => [entry.id, entry]));
  const included = new Set(shown);
  for (const entry of shown) {
    const related = [sourceOf(entry), ...entry.uses].map((id) => byId.get(id));
    for (const each of related) if (each !== undefined) included.add(each);
  }
  return all.filter((entry) => included.has(entry));
}

function sourceOf({ source }: FleetEntry): string {
  return `Source/${source ?? ''}`;
}

function groupEntry({ uses }: FleetEntry, byId: ReadonlyMap<string, FleetEntry>): FleetEntry | undefined {
  return uses.map((id) => byId.get(id)).find((each) => each?.role === 'group');
}

/** Returns the place of an entry. Entries of one place may be folded into one node. */
function foldingPlace({ role, namespace = '', source = '', uses }: FleetEntry, isLarge: boolean): string {
  if (role === 'source') return 'source';
  const group = role === 'server' && !isLarge ? (uses.find((id) => id.includes('/MCPGroup/')) ?? '') : '';
  return [role, namespace, source, group].join(' ');
}

function nodesOf(
  place: string,
  entries: readonly FleetEntry[],
  unfolded: ReadonlySet<string>,
  aloneMax: number,
): readonly MapNode[] {
  if (entries.length <= aloneMax) return entries.map(single);
  if (unfolded.has(place)) {
    return [...entries.slice(0, UNFOLDED_MAX).map(single), ...rest(place, entries.slice(UNFOLDED_MAX))];
  }
  const troubled = entries.filter(({ state }) => TROUBLES.has(state)).slice(0, TROUBLED_MAX);
  const alone = new Set(troubled);
  return [
    ...troubled.map(single),
    ...rest(
      place,
      entries.filter((entry) => !alone.has(entry)),
    ),
  ];
}

function single(entry: FleetEntry): MapNode {
  return { key: entry.id, column: COLUMNS.indexOf(entry.role), entries: [entry], state: entry.state, folded: false };
}

function rest(place: string, entries: readonly FleetEntry[]): readonly MapNode[] {
  const [first] = entries;
  if (first === undefined) return [];
  if (entries.length === 1) return [single(first)];
  const state = STATE_NAMES.find((name) => entries.some((entry) => entry.state === name)) ?? 'unknown';
  return [{ key: place, column: COLUMNS.indexOf(first.role), entries, state, folded: true }];
}

type Link = readonly [from: string, to: string];

/**
 * Returns the edges from left to right: a source declares, a group contains, a virtual server shows, a registry lists.
 */
function linksOf(
  entry: FleetEntry,
  byId: ReadonlyMap<string, FleetEntry>,
  all: readonly FleetEntry[],
): readonly Link[] {
  const { role, id } = entry;
  const group = groupEntry(entry, byId);
  const listed = entry.uses
    .filter((each) => byId.get(each)?.role === 'registry')
    .map((registry): Link => [id, registry]);
  switch (role) {
    case 'source':
      return [];
    case 'server':
      return [[group?.id ?? sourceOf(entry), id], ...listed];
    case 'virtual-server': {
      const members = group === undefined ? [] : memberIds(group, all);
      const from = members.length > 0 ? members : [group?.id ?? sourceOf(entry)];
      return [...from.map((member): Link => [member, id]), ...listed];
    }
    default:
      return [[sourceOf(entry), id], ...listed];
  }
}

const members = new WeakMap<readonly FleetEntry[], Map<string, string[]>>();

function memberIds(group: FleetEntry, all: readonly FleetEntry[]): readonly string[] {
  let byGroup = members.get(all);
  if (byGroup === undefined) {
    byGroup = new Map();
    for (const { role, id, uses } of all) {
      if (role !== 'server') continue;
      for (const used of uses) {
        const known = byGroup.get(used);
        if (known === undefined) byGroup.set(used, [id]);
        else known.push(id);
      }
    }
    members.set(all, byGroup);
  }
  return byGroup.get(group.id) ?? [];
}
