// Computes the state of a fleet before and after a plan.

import { type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import type { Desired } from '../desire/desire.ts';
import type { Change } from '../plan/plan.ts';
import type { Standing } from '../resolve/resolve.ts';

export interface StatesInput {
  readonly living: readonly KubeObject[];
  readonly standings: readonly Standing[];
  /** Declared objects and children. */
  readonly desired: readonly Desired[];
  readonly changes: readonly Change[];
}

export interface States {
  readonly before: readonly KubeObject[];
  readonly after: readonly KubeObject[];
}

/**
 * Returns both states. A resource that is not healthy has its live form in both states, because its children are kept
 * unchanged.
 */
export function statesOf({ living, standings, desired, changes }: StatesInput): States {
  const after = new Map(living.map((object) => [keyOfObject(object), object]));
  for (const change of changes) if (change.action === 'delete') after.delete(change.key);
  const unsettled = new Set(
    standings.filter(({ health }) => health !== 'healthy').map(({ loaded }) => keyOf(loaded.id)),
  );
  const read = new Map(standings.map(({ loaded }) => [keyOf(loaded.id), loaded.defaulted]));
  for (const { key, object, owner } of desired) {
    if (owner === undefined && !unsettled.has(key)) after.set(key, read.get(key) ?? object);
  }
  return { before: living, after: [...after.values()] };
}
