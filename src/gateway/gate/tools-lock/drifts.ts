// The definitions of a server that are not the reviewed ones now, as far as they were read.

import type { FilteredKey } from '../../wire/methods.ts';
import type { KeeperPorts } from './keeper.ts';
import type { Agreement } from './lock.ts';

/** `missing`: it was reviewed, and the server does not list it. */
export interface Drifted {
  readonly list: FilteredKey;
  readonly name: string;
  readonly what: Exclude<Agreement, 'agrees'> | 'missing';
  /** JSON, as the server sent it; absent if it is missing. */
  readonly definition?: string;
}

export interface Drifts extends Pick<KeeperPorts, 'observed' | 'agreed' | 'completed'> {
  /** Reviewed definitions first, then by list and name. */
  all(): readonly Drifted[];
  count(list: FilteredKey): number;
  /** True once a list was read to its end, or a definition was found that differs: servers may show their lists to known callers only. */
  isRead(): boolean;
}

/** A server that invents names does not fill the memory. Reviewed names are as many as the lock has. */
const NEW_MAX = 1000;
/** Characters of a name that are kept: locks have no longer names. */
const NAME_MAX = 4096;
/** Characters of all definitions that are kept. The names of the other ones are kept without definitions. */
const DEFINITIONS_MAX = 16_000_000;

export interface DriftPorts {
  /** Once for each definition, until it agrees or is not listed any more: a server may send another text each time. */
  readonly drifted: (drift: Drifted) => void;
  /** Something was added, changed or removed. */
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

/** All new definitions are counted together. */
function countedAs({ list, what }: Drifted): readonly string[] {
  return what === 'new' ? [list, 'new'] : [list];
}

function isStill({ name, what }: Drifted, listed: ReadonlySet<string>, missing: ReadonlySet<string>): boolean {
  return what === 'missing' ? missing.has(name) : listed.has(name) || name.length === NAME_MAX;
}

function driftKey({ list, name }: Pick<Drifted, 'list' | 'name'>): string {
  return `${list} ${name}`;
}

/** A server may invent names that would come before all others. */
function orderOf(drift: Drifted): string {
  return `${drift.what === 'new' ? 1 : 0} ${driftKey(drift)}`;
}
