// All scenarios.

import type { Scenario } from '../scenario.ts';
import { APPLY_SCENARIOS } from './apply.ts';
import { CUSTOM_SCENARIOS } from './custom.ts';
import { DELETION_SCENARIOS } from './deletion.ts';
import { DISCOVERY_SCENARIOS } from './discovery.ts';
import { KIND_SCENARIOS } from './kinds.ts';
import { LISTING_SCENARIOS } from './listing.ts';
import { WRITE_SCENARIOS } from './writes.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...KIND_SCENARIOS,
  ...APPLY_SCENARIOS,
  ...WRITE_SCENARIOS,
  ...DELETION_SCENARIOS,
  ...LISTING_SCENARIOS,
  ...DISCOVERY_SCENARIOS,
  ...CUSTOM_SCENARIOS,
];
