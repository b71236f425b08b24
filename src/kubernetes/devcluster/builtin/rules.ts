// Returns the rules of a built-in kind. Rules of the kind override common rules.

import type { ResourceType } from '../resources/resource-type.ts';
import type { KindRules } from './kind.ts';
import { KIND_RULES } from './kind-rules.ts';

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
