// Compares a desired scalar with the stored one.

import type { Json } from '#std/json.ts';
import { withoutLineBreaks } from '../normalise.ts';
import type { MergeType } from '../openapi.ts';
import { storedQuantity } from '../quantity.ts';
import { isEmptyValue } from './shape.ts';

/** The result for a place: the apply does not change it, changes it, or only the server can tell. */
export type Answer = 'same' | 'differs' | 'unknown';

/** Both values are present, and `desired` is neither null nor a container. */
export function compareScalars(desired: Json, live: Json, type: MergeType): Answer {
  if (desired === live) return 'same';
  if (typeof live === 'object') return 'differs';
  const spelled = compareSpellings(desired, live, type);
  if (spelled !== undefined) return spelled;
  // Defaulting treats empty as unset, so the live value may be the default, which the server would set again.
  return type.storage === 'struct' && isEmptyValue(desired) && !isEmptyValue(live) ? 'unknown' : 'differs';
}

function compareSpellings(desired: Json, live: Json, type: MergeType): Answer | undefined {
  switch (type.scalar?.spelling) {
    case 'quantity':
      return compareQuantities(desired, live);
    case 'base64':
      return withoutLineBreaks(String(desired)) === live ? 'same' : undefined;
    case 'time':
      return Date.parse(String(desired)) === Date.parse(String(live)) ? 'unknown' : undefined;
    case undefined:
      return undefined;
  }
}

function compareQuantities(desired: Json, live: Json): Answer {
  const stored = typeof desired === 'string' || typeof desired === 'number' ? storedQuantity(desired) : undefined;
  if (stored === undefined) return 'unknown';
  return stored === live ? 'same' : 'differs';
}
