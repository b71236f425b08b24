// Determines from two objects, without a request, whether applying the desired object again would change the live
// object.

import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import type { MergeType } from '../openapi.ts';
import { entryOf } from './entries.ts';
import { difference, equalSets, type FieldSet, paths } from './fieldset.ts';
import { parseFields, surelyHold } from './fieldsv1.ts';
import { ownedSet } from './owned.ts';
import { elementsOf, type ObjectPosition, pointerOf } from './place.ts';
import { compareObjects } from './values.ts';

/**
 * `unchanged`: the apply would change neither the object nor our owned fields. `changed`: the apply would change them,
 * or the server would refuse the object. `unknown`: only a dry run can tell.
 */
export type Result = 'unchanged' | 'changed' | 'unknown';

export interface Comparison {
  readonly result: Result;
  /** Path of the place that decided, as in `differences`. Empty for the whole object. Absent for `unchanged`. */
  readonly path?: string;
  /** The reason as a short phrase. Never contains a value. Absent for `unchanged`. */
  readonly reason?: string;
}

/**
 * Compares `desired` (as sent, normalised if possible) with `live`, which has the same apiVersion. `manager` applies
 * with force. First compares the owned fields of `live` with the fields that `desired` would own. If the two sets are
 * equal, an owned field that is absent in `live` was never stored. For an empty value, this is certain only if no
 * earlier apply had a null at its place. Normalised objects have no nulls.
 */
export function compare(
  desired: KubeObject,
  live: KubeObject,
  type: MergeType | undefined,
  manager: string,
): Comparison {
  if (type === undefined) return { result: 'unknown', path: '', reason: 'no schema of the kind is known' };
  const { set, misfits } = ownedSet(desired, type);
  const [misfit] = misfits;
  if (misfit !== undefined) {
    return { result: 'unknown', path: pointerOf(misfit.elements), reason: misfit.reason };
  }
  return compareSets(set, desired, entryOf(live, manager)) ?? compareValues(desired, live, type);
}

function compareSets(
  set: FieldSet,
  desired: KubeObject,
  entry: ManagedFieldsEntry | undefined,
): Comparison | undefined {
  if (entry === undefined) {
    return set.size === 0 ? undefined : { result: 'changed', path: '', reason: 'not applied by this instance before' };
  }
  if (entry.apiVersion !== desired.apiVersion) {
    return { result: 'changed', path: '', reason: `applied as ${entry.apiVersion} before` };
  }
  if (surelyHold(entry.fieldsV1, set)) return undefined;
  const owned = parseFields(entry.fieldsV1);
  if (owned === undefined)
    return { result: 'unknown', path: '', reason: 'the managedFields entry of this instance cannot be read' };
  if (equalSets(set, owned)) return undefined;
  const [added] = paths(difference(set, owned));
  const [dropped] = paths(difference(owned, set));
  return {
    result: 'changed',
    path: pointerOf(added ?? dropped ?? []),
    reason: added === undefined ? 'no longer declared' : 'not applied by this instance before',
  };
}

/** Returns the worst result of all places. `unknown` is worse than `changed`. */
function compareValues(desired: KubeObject, live: KubeObject, type: MergeType): Comparison {
  let worst:
    | { readonly result: Result; readonly place: ObjectPosition | undefined; readonly reason: string }
    | undefined;
  compareObjects(
    (answer, place, reason) => {
      const result = answer === 'differs' ? 'changed' : 'unknown';
      if (worst === undefined || (worst.result === 'changed' && result === 'unknown')) {
        worst = { result, place, reason };
      }
    },
    desired,
    live,
    type,
  );
  if (worst === undefined) return { result: 'unchanged' };
  return { result: worst.result, path: pointerOf(elementsOf(worst.place)), reason: worst.reason };
}
