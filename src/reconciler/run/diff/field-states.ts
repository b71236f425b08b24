// Decides which value of a declared field wins if another manager has set the field (decision 0240). Git wins in
// children, and with `apply.conflicts: force` (the default). Ignored fields and fields of another instance are
// exceptions.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Conceded } from '#kubernetes/rules/ownership/concede.ts';
import type { JsonObject } from '#std/json.ts';
import { isOtherInstance } from '../labels.ts';
import { ignoredFields, isIgnored } from './ignored-fields.ts';

/**
 * `set-back`: Git's value is applied. `kept`: the value of the other manager stays and differs from Git. `left`: the
 * value of the other manager stays, as the manifest allows.
 */
export type FieldState = 'set-back' | 'kept' | 'left';

/**
 * A field of another manager. `pointer` is empty if the desired object lacks the field and the field blocks a declared
 * field.
 */
export interface FieldOfOther extends Conceded {
  readonly state: FieldState;
}

export interface FieldRules {
  readonly manager: string;
  /** True if skep.yaml sets `apply.conflicts: force`. */
  readonly force: boolean;
}

/**
 * Returns the state of a field by its path and manager. `child` is true for a child of a custom resource: its fields
 * cannot be left to other managers in a manifest.
 */
export function fieldStates(
  { manager: own, force }: FieldRules,
  declared: KubeObject,
  child: boolean,
): (path: string, manager: string) => FieldState {
  const ignored = child ? [] : ignoredFields(declared as JsonObject);
  return (path, manager) => {
    // Never set back: two instances that set each other's fields back would write in every run.
    if (isOtherInstance(manager, own)) return 'kept';
    if (isIgnored(ignored, path)) return 'left';
    return child || force ? 'set-back' : 'kept';
  };
}
