// Whether a desired scalar and a living one are the same once stored.

import type { Json } from '#std/json.ts';
import { withoutLineBreaks } from '../normalise.ts';
import type { MergeType } from '../openapi.ts';
import { storedQuantity } from '../quantity.ts';
import { isEmptyValue } from './shape.ts';

/** What is known of a place: the apply leaves it, changes it, or only the server can tell. */
export type Answer = 'same' | 'differs' | 'unknown';

/** Both present, `desired` neither null nor a container. */
export function compareScalars(desired: Json, live: Json, type: MergeType): Answer {
  if (desired === live) return 'same';
  if (typeof live === 'object') return 'differs';
  const spelled = compareSpellings(desired, live, type);
  if (spelled !== undefined) return spelled;
  // Defaulting treats empty as unset: a living value may be the default that comes back.
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
