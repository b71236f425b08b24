// Defines the interface of rules that differ between built-in kinds.

import type { KubeObject } from '../../rules/object.ts';
import type { Cause } from '../api/status.ts';
import type { NameForm } from '../api/validate-metadata.ts';
import type { Neighbours } from '../resources/behaviour.ts';

export interface KindRules {
  readonly hasStatus: boolean;
  readonly nameForm: NameForm;
  readonly updatesUnconditionally: boolean;
  readonly createsOnUpdate: boolean;
  readonly returnsDeleted: boolean;
  /** If absent, the kind has no generation. */
  readonly generationCounts?: (next: KubeObject, old: KubeObject) => boolean;
  readonly withDefaults: (object: KubeObject) => KubeObject;
  readonly prepareCreate: (object: KubeObject, neighbours: Neighbours) => KubeObject;
  readonly prepareUpdate: (next: KubeObject, old: KubeObject, neighbours: Neighbours) => KubeObject;
  readonly validate: (
    next: KubeObject,
    old: KubeObject | undefined,
    subresource: string | undefined,
  ) => readonly Cause[];
}
