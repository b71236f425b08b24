// What the built-in kinds do differently from one another, one entry a kind. Knows nothing about requests or storage.

import type { KubeObject } from '../../kube/object.ts';
import type { Cause } from '../api/status.ts';
import type { NameForm } from '../api/validate-metadata.ts';
import type { Neighbours } from '../resources/behaviour.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { KIND_RULES } from './kind-rules.ts';

export interface KindRules {
  readonly hasStatus: boolean;
  readonly nameForm: NameForm;
  readonly updatesUnconditionally: boolean;
  readonly createsOnUpdate: boolean;
  readonly returnsDeleted: boolean;
  /** Absent: the kind has no generation. */
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

export function rulesOf(type: ResourceType): KindRules {
  const own = KIND_RULES[`${type.group}/${type.kind}`] ?? {};
  return { ...COMMON, hasStatus: type.hasStatus, ...own };
}

const COMMON: KindRules = {
  hasStatus: false,
  nameForm: 'subdomain',
  updatesUnconditionally: true,
  createsOnUpdate: false,
  returnsDeleted: false,
  withDefaults: (object) => object,
  prepareCreate: (object) => object,
  prepareUpdate: (next) => next,
  validate: () => [],
};
