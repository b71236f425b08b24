// Stores definitions of a server that differ from the reviewed definitions.

import type { FilteredKey } from '../../wire/methods.ts';
import type { KeeperPorts } from './keeper.ts';
import type { Agreement } from './lock.ts';

/** Difference from the tools lock. `missing` means that the server does not list a reviewed definition. */
export interface Drifted {
  readonly list: FilteredKey;
  readonly name: string;
  readonly what: Exclude<Agreement, 'agrees'> | 'missing';
  /** JSON as the server sent it. Absent if the definition is missing or was not stored. */
  readonly definition?: string;
}

export interface Drifts extends Pick<KeeperPorts, 'observed' | 'agreed' | 'completed'> {
  /** Returns all differences, sorted by list and name. Reviewed definitions are first. */
  all(): readonly Drifted[];
  count(list: FilteredKey): number;
  /**
   * Returns true after a list was read completely or a differing definition was found. Before that, no differences are
   * known, for example because the server shows its lists only to authenticated callers.
   */
  isRead(): boolean;
}

/**
 * Maximum number of stored new definitions. A server that invents names would otherwise fill the memory. The tools lock
 * itself limits the number of names with a reviewed definition.
 */
const NEW_MAX = 1000;
/** Maximum length of a stored name. Names in the tools lock are not longer. */
const NAME_MAX = 4096;
/** Maximum length of all stored definitions together. Over this limit, names are stored without definitions. */
const DEFINITIONS_MAX = 16_000_000;

export interface DriftPorts {
  /**
   * Called when a definition begins to differ, or when its difference changes to another kind (`what`). Not called
   * again for another text of the same kind, because a server may send another text each time.
   */
  readonly drifted: (drift: Drifted) => void;
  /** Called when an entry was added, changed or removed, or when `isRead` became true. */
  readonly changed: () => void;
}

export function createDrifts({ drifted, changed }: DriftPorts): Drifts {
  const found = new Map<string, Drifted>();
  const counts = new Map<string, number>();
  let kept = 0;
  let isRead = false;

  function count(drift: Drifted, sign: 1 | -1): void {
    kept += sign * (drift.definition?.length ?? 0);
    for (const key of countedAs(drift)) counts.set(key, (counts.get(key) ?? 0) + sign);
  }

  function remove(key: string): boolean {
    const known = found.get(key);
    if (known !== undefined) count(known, -1);
    return found.delete(key);
  }

  function add(drift: Drifted): void {
    const key = driftKey(drift);
    const known = found.get(key);
    if (known?.what === drift.what && known.definition === drift.definition) return;
    if (known === undefined && drift.what === 'new' && (counts.get('new') ?? 0) >= NEW_MAX) return;
    remove(key);
    const isKept = kept + (drift.definition?.length ?? 0) <= DEFINITIONS_MAX;
    const entry = isKept ? drift : { ...drift, definition: undefined };
    found.set(key, entry);
    count(entry, 1);
    isRead = true;
    if (known?.what !== drift.what) drifted(entry);
    changed();
  }

  return {
    isRead: () => isRead,
    count: (list) => counts.get(list) ?? 0,
    all: () => [...found.values()].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
    observed({ list, name, what, definition }) {
      if (what !== 'agrees') add({ list, name: name.slice(0, NAME_MAX), what, definition: definition.toString() });
      else if (found.size > 0 && remove(driftKey({ list, name }))) changed();
    },
    agreed(list, names) {
      if (found.size === 0) return;
      const again = names.filter((name) => remove(driftKey({ list, name })));
      if (again.length > 0) changed();
    },
    completed(list, { listed, missing }) {
      const isFirst = !isRead;
      isRead = true;
      const absent = new Set(missing);
      const gone = [...found].filter(([, drift]) => drift.list === list && !isStill(drift, listed, absent));
      for (const [key] of gone) remove(key);
      for (const name of missing) add({ list, name, what: 'missing' });
      if (gone.length > 0 || isFirst) changed();
    },
  };
}

/** Returns the counters of an entry. New definitions of all lists have a common counter. */
function countedAs({ list, what }: Drifted): readonly string[] {
  return what === 'new' ? [list, 'new'] : [list];
}

function isStill({ name, what }: Drifted, listed: ReadonlySet<string>, missing: ReadonlySet<string>): boolean {
  return what === 'missing' ? missing.has(name) : listed.has(name) || name.length === NAME_MAX;
}

function driftKey({ list, name }: Pick<Drifted, 'list' | 'name'>): string {
  return `${list} ${name}`;
}

/**
 * Returns a sort key. Reviewed definitions are first, because a server could invent new names that sort before all
 * names with a reviewed definition.
 */
function orderOf(drift: Drifted): string {
  return `${drift.what === 'new' ? 1 : 0} ${driftKey(drift)}`;
}
