// Creates causes of a 422 with the API server's messages.

import type { Json } from '#std/json.ts';
import type { Cause } from '../../api/status.ts';

export function required(field: string, detail?: string): Cause {
  return { reason: 'FieldValueRequired', message: withDetail('Required value', detail), field };
}

export function invalidValue(field: string, value: Json | undefined, detail: string): Cause {
  const message = withDetail(`Invalid value: ${JSON.stringify(value ?? null)}`, detail);
  return { reason: 'FieldValueInvalid', message, field };
}

export function notSupported(field: string, value: Json | undefined, supported: readonly string[]): Cause {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value ?? '')}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

export function duplicate(field: string, value: Json): Cause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}`, field };
}

export function forbiddenField(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field };
}

export function missing(field: string, value: Json): Cause {
  return { reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(value)}`, field };
}

function withDetail(text: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? text : `${text}: ${detail}`;
}

/** Reports a negative number. An absent value is valid. */
export function nonNegative(field: string, value: Json | undefined): Cause[] {
  return typeof value === 'number' && value < 0
    ? [invalidValue(field, value, 'must be greater than or equal to 0')]
    : [];
}

/** Reports a port that is absent or outside 1 to 65535. */
export function portNumber(field: string, value: Json | undefined): Cause[] {
  const valid = typeof value === 'number' && value >= 1 && value <= 65_535;
  return valid ? [] : [invalidValue(field, value, 'must be between 1 and 65535, inclusive')];
}

/** Reports a value that is not supported. An absent value is valid. */
export function oneOf(field: string, value: Json | undefined, supported: readonly string[]): Cause[] {
  return value === undefined || supported.includes(String(value)) ? [] : [notSupported(field, value, supported)];
}

export const FIELD_IS_IMMUTABLE = 'field is immutable';
