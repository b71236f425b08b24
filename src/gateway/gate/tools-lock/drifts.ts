// The definitions of a server that are not the reviewed ones now, as far as they were read.

import { setBounded } from '#std/bounded.ts';
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

export interface Drifts extends Pick<KeeperPorts, 'observed' | 'completed'> {
  /** By list and name. */
  all(): readonly Drifted[];
  /** True once a list was read to its end. */
  isRead(): boolean;
}

/** A server that invents names does not fill the memory. */
const DRIFTS_MAX = 1000;

export interface DriftPorts {
  /** Once for each definition, until it is another one. */
  readonly drifted: (drift: Drifted) => void;
  /** Something was added or removed. */
  readonly changed: () => void;
}

export function createDrifts({ drifted, changed }: DriftPorts): Drifts {
  const found = new Map<string, Drifted>();
  let isRead = false;

  function add(drift: Drifted): void {
    const key = driftKey(drift);
    const known = found.get(key);
    if (known?.what === drift.what && known.definition === drift.definition) return;
    setBounded(found, key, drift, DRIFTS_MAX);
    drifted(drift);
    changed();
  }

  return {
    isRead: () => isRead,
    all: () => [...found.values()].toSorted((a, b) => (driftKey(a) < driftKey(b) ? -1 : 1)),
    observed({ list, name, what, definition }) {
      if (what === 'agrees') {
        if (found.size > 0 && found.delete(driftKey({ list, name }))) changed();
      } else add({ list, name, what, definition: definition.toString() });
    },
    completed(list, { listed, missing }) {
      const isFirst = !isRead;
      isRead = true;
      const gone = [...found].filter(([, drift]) => drift.list === list && !isStill(drift, listed, missing));
      for (const [key] of gone) found.delete(key);
      for (const name of missing) add({ list, name, what: 'missing' });
      if (gone.length > 0 || isFirst) changed();
    },
  };
}

function isStill({ name, what }: Drifted, listed: ReadonlySet<string>, missing: readonly string[]): boolean {
  return what === 'missing' ? missing.includes(name) : listed.has(name);
}

function driftKey({ list, name }: Pick<Drifted, 'list' | 'name'>): string {
  return `${list} ${name}`;
}
