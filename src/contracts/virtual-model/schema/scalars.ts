// Checks keywords of JSON Schema about numbers and texts.

import { setBounded } from '#std/bounded.ts';
import type { JsonObject } from '#std/json.ts';
import { compileRe2, type Re2 } from '#std/patterns/re2.ts';

export function numberMisfit(schema: JsonObject, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`;
  if (typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`;
  if (typeof multipleOf !== 'number' || multipleOf === 0) return undefined;
  const share = value / multipleOf;
  // Tolerates rounding errors: 0.3 is a multiple of 0.1, but 0.3 / 0.1 is 2.9999999999999996.
  return Math.abs(share - Math.round(share)) < 1e-9 * Math.max(1, Math.abs(share))
    ? undefined
    : `must be a multiple of ${multipleOf}`;
}

export function textMisfit(schema: JsonObject, value: string): string | undefined {
  const { minLength, maxLength, pattern } = schema;
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if (typeof minLength === 'number' && length < minLength) return `must have at least ${minLength} characters`;
  if (typeof maxLength === 'number' && length > maxLength) return `must have at most ${maxLength} characters`;
  if (typeof pattern !== 'string') return undefined;
  const compiled = compilePattern(pattern);
  return compiled.ok && compiled.matcher.test(value) === true ? undefined : `must match the pattern ${pattern}`;
}

const compiled = new Map<string, Re2>();

/** Compiles a pattern with RE2, whose matching time is linear for all patterns (docs/decisions/0210). */
export function compilePattern(pattern: string): Re2 {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compileRe2(pattern);
  setBounded(compiled, pattern, made, 1000);
  return made;
}
