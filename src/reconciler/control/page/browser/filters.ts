// Filters the entries of the fleet. The searched text of each entry is computed once.

import { STATE_NAMES } from '#std/page/shared/kit/states.ts';
import type { EntryState, FleetEntry } from '../../../run/fleet-state/format.ts';

export interface Filters {
  readonly text: string;
  /** Empty for all namespaces. An empty `kind` stands for all kinds. */
  readonly namespace: string;
  readonly kind: string;
  /** Name of a source; empty for all sources. */
  readonly source: string;
  readonly states: ReadonlySet<EntryState>;
}

export const NO_FILTERS: Filters = { text: '', namespace: '', kind: '', source: '', states: new Set() };

export function isFiltered({ text, namespace, kind, source, states }: Filters): boolean {
  return text !== '' || namespace !== '' || kind !== '' || source !== '' || states.size > 0;
}

/** Parses the filters in an address. Unknown states are left out. */
export function filtersIn(query: string): Filters {
  const given = new URLSearchParams(query);
  const states = (given.get('state') ?? '').split(',');
  return {
    text: given.get('text') ?? '',
    namespace: given.get('namespace') ?? '',
    kind: given.get('kind') ?? '',
    source: given.get('source') ?? '',
    states: new Set(STATE_NAMES.filter((state) => states.includes(state))),
  };
}

/** Formats filters for an address; empty without filters. */
export function queryOf({ text, namespace, kind, source, states }: Filters): string {
  const named = Object.entries({ text, namespace, kind, source, state: [...states].join(',') });
  return new URLSearchParams(named.filter(([, value]) => value !== '')).toString();
}

const texts = new WeakMap<FleetEntry, string>();

function searchText(entry: FleetEntry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const text = `${entry.id} ${entry.why} ${entry.source ?? ''}`.toLowerCase();
  texts.set(entry, text);
  return text;
}

/** Returns the entries whose text contains every word of the filter. */
export function filterEntries(entries: readonly FleetEntry[], filters: Filters): readonly FleetEntry[] {
  if (!isFiltered(filters)) return entries;
  const { namespace, kind, source, states } = filters;
  const words = filters.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return entries.filter(
    (entry) =>
      (namespace === '' || entry.namespace === namespace) &&
      (kind === '' || entry.kind === kind) &&
      (source === '' || entry.source === source || (entry.role === 'source' && entry.name === source)) &&
      (states.size === 0 || states.has(entry.state)) &&
      words.every((word) => searchText(entry).includes(word)),
  );
}

export function distinctValues(
  entries: readonly FleetEntry[],
  field: 'namespace' | 'kind' | 'source',
): readonly string[] {
  return [...new Set(entries.flatMap((entry) => entry[field] ?? []))].toSorted();
}
