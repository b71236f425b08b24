// Finds the fields that a write takes from other managers, and reports them as conflicts.

import type { Changes } from '../changes.ts';
import { compareTexts } from '../element.ts';
import { difference, differenceBelow, type FieldSet, intersection, paths, union } from '../fieldset.ts';
import { serverPath } from '../place.ts';
import type { Manager, ManagerName, Managers } from './managers.ts';

export interface Conflict extends ManagerName {
  readonly time?: string;
  /** The path as the API server writes it: `.spec.template.spec.containers[name="a"].image`. */
  readonly path: string;
}

/** Returns the changes without the fields that the endpoint resets. */
export function withoutReset(changes: Changes, reset: FieldSet): Changes {
  return {
    added: differenceBelow(changes.added, reset),
    modified: differenceBelow(changes.modified, reset),
    removed: differenceBelow(changes.removed, reset),
  };
}

/**
 * Returns the fields of other managers that the write changes, sorted by manager, then by path as the API server sorts
 * paths.
 */
export function conflictsWith(managers: Managers, changes: Changes, writer: string): Conflict[] {
  const written = union(changes.modified, changes.added);
  return [...managers]
    .filter(([key]) => key !== writer)
    .flatMap(([, { set, ...owner }]) => conflictsOf(owner, intersection(set, written)))
    .sort((a, b) => compareTexts(a.manager, b.manager));
}

function conflictsOf(owner: Omit<Manager, 'set'>, fields: FieldSet): Conflict[] {
  return paths(fields).map((path) => ({ ...owner, path: serverPath(path) }));
}

/**
 * Returns the managers after the write. The other managers lose the fields that the write changes or removes. Managers
 * without fields are dropped.
 */
export function takeAway(managers: Managers, changes: Changes, writer: string): Managers {
  const taken = union(union(changes.modified, changes.added), changes.removed);
  const left = new Map<string, Manager>();
  for (const [key, manager] of managers) {
    const set = key === writer ? manager.set : difference(manager.set, taken);
    if (set.size > 0) left.set(key, { ...manager, set });
  }
  return left;
}
