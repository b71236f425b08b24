// Provides the results of an API server for many CEL rules over one schema and one object (Kubernetes 1.36), and those
// of this program.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '#std/json.ts';

/** `refused`: the rule does not compile; `error`: it fails while it is evaluated. */
export type Verdict = 'true' | 'false' | 'error' | 'refused';

interface Recorded {
  readonly schema: JsonObject;
  readonly value: JsonObject;
  readonly verdicts: readonly (readonly [rule: string, verdict: Verdict])[];
}

export const RECORDED: Recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recordings', 'cel-verdicts.json'), 'utf8'),
);
