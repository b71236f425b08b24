// What becomes of a declared field that another manager has set to another value: Git wins, but for what is left to others
// (decision 0240).

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Conceded } from '#kubernetes/rules/ownership/concede.ts';
import type { JsonObject } from '#std/json.ts';
import { isOtherInstance } from '../labels.ts';
import { ignoredFields, isIgnored } from './ignored-fields.ts';

/**
 * `set-back`: Git's value is applied. `kept`: it stays as the other manager has set it, and so differs from Git. `left`:
 * it stays, as the manifest says that it may.
 */
export type FieldState = 'set-back' | 'kept' | 'left';

/** Its pointer is empty where the desired object has no such field: it stands in the way of one that it has. */
export interface FieldOfOther extends Conceded {
  readonly state: FieldState;
}

export interface FieldRules {
  /** Field manager of the instance. */
  readonly manager: string;
  /** `apply.conflicts: force`. */
  readonly force: boolean;
}

/** `child`: made of a custom resource; its manifest says nothing about fields of it, and Git has no other word for them. */
export function fieldStates(
  { manager: own, force }: FieldRules,
  declared: KubeObject,
  child: boolean,
): (path: string, manager: string) => FieldState {
  const ignored = child ? [] : ignoredFields(declared as JsonObject);
  return (path, manager) => {
    // Two instances that set each other's fields back would write for ever.
    if (isOtherInstance(manager, own)) return 'kept';
    if (isIgnored(ignored, path)) return 'left';
    return child || force ? 'set-back' : 'kept';
  };
}
