// All scenarios.

import type { Scenario } from '../scenario.ts';
import { APPLY_SCENARIOS } from './apply.ts';
import { APPLY_AND_UPDATE_SCENARIOS } from './apply-and-update.ts';
import { APPLY_REQUEST_SCENARIOS } from './apply-requests.ts';
import { DEFINITION_SCENARIOS } from './custom-definitions.ts';
import { CUSTOM_VALIDATION_SCENARIOS } from './custom-validation.ts';
import { CUSTOM_WRITE_SCENARIOS } from './custom-writes.ts';
import { DELETION_SCENARIOS } from './deletion.ts';
import { DISCOVERY_SCENARIOS } from './discovery.ts';
import { KIND_SCENARIOS } from './kinds.ts';
import { LISTING_SCENARIOS } from './listing.ts';
import { OWN_KIND_SCENARIOS } from './own-kinds.ts';
import { PATCH_SCENARIOS } from './patches.ts';
import { REFUSAL_SCENARIOS } from './refusals.ts';
import { STORED_VERSION_SCENARIOS } from './stored-versions.ts';
import { WRITE_SCENARIOS } from './writes.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...KIND_SCENARIOS,
  ...APPLY_SCENARIOS,
  ...APPLY_AND_UPDATE_SCENARIOS,
  ...APPLY_REQUEST_SCENARIOS,
  ...WRITE_SCENARIOS,
  ...PATCH_SCENARIOS,
  ...REFUSAL_SCENARIOS,
  ...DELETION_SCENARIOS,
  ...LISTING_SCENARIOS,
  ...DISCOVERY_SCENARIOS,
  ...DEFINITION_SCENARIOS,
  ...STORED_VERSION_SCENARIOS,
  ...CUSTOM_VALIDATION_SCENARIOS,
  ...CUSTOM_WRITE_SCENARIOS,
  ...OWN_KIND_SCENARIOS,
];
