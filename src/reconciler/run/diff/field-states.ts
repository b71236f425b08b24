// Decides about a declared field that another manager has set to another value: Git wins, except for fields that are
// left to other managers (decision 0240).

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Conceded } from '#kubernetes/rules/ownership/concede.ts';
import type { JsonObject } from '#std/json.ts';
import { isOtherInstance } from '../labels.ts';
import { ignoredFields, isIgnored } from './ignored-fields.ts';

/**
 * `set-back`: Git's value is applied. `kept`: the other manager's value stays, and differs from Git. `left`: the other
 * manager's value stays, as the manifest allows.
 */
export type FieldState = 'set-back' | 'kept' | 'left';

/**
 * A field of another manager. The pointer is empty if the desired object lacks the field: then the field blocks a
 * declared field.
 */
export interface FieldOfOther extends Conceded {
  readonly state: FieldState;
}

export interface FieldRules {
  /** Field manager of the instance. */
  readonly manager: string;
  /** `apply.conflicts: force`. */
  readonly force: boolean;
}

/**
 * `child` is true if the object was created for a custom resource, whose manifest cannot leave fields of the child to
 * other managers.
 */
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
