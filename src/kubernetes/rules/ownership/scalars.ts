// Compares a desired scalar with the stored scalar.

import type { Json } from '#std/json.ts';
import { withoutLineBreaks } from '../normalise.ts';
import type { MergeType } from '../openapi.ts';
import { storedQuantity } from '../quantity.ts';
import { isEmptyValue } from './shape.ts';

/** Result for one place: the apply keeps the value, changes it, or only the server can tell. */
export type MergeEffect = 'same' | 'differs' | 'unknown';

/** `desired` must not be null, a map or a list. */
export function compareScalars(desired: Json, live: Json, type: MergeType): MergeEffect {
  if (desired === live) return 'same';
  if (typeof live === 'object') return 'differs';
  const spelled = compareSpellings(desired, live, type);
  if (spelled !== undefined) return spelled;
  // The server treats an empty value as unset and may set its default, which may be the live value.
  return type.storage === 'struct' && isEmptyValue(desired) && !isEmptyValue(live) ? 'unknown' : 'differs';
}

function compareSpellings(desired: Json, live: Json, type: MergeType): MergeEffect | undefined {
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

function compareQuantities(desired: Json, live: Json): MergeEffect {
  const stored = typeof desired === 'string' || typeof desired === 'number' ? storedQuantity(desired) : undefined;
  if (stored === undefined) return 'unknown';
  return stored === live ? 'same' : 'differs';
}
