// Reports the faults that the policy checks find.

import type { Json } from '#std/json.ts';
import { fieldPath } from '../structural/path.ts';
import type { Report } from '../structural/report.ts';
import type { PolicyCode } from './codes.ts';

/** `message` follows the field's name: "must not be empty." */
export function refuseField(out: Report, pointer: string, message: string, code: PolicyCode = 'policy-invalid'): void {
  out.findings.push({ code, severity: 'error', pointer, message: `${fieldPath(pointer)} ${message}` });
}

/**
 * Reports a value that is not allowed. An absent value is valid, because the server sets its default. The schema check
 * reports values of another type.
 */
export function requireOneOf(out: Report, value: Json | undefined, allowed: readonly string[], pointer: string): void {
  if (typeof value !== 'string' || allowed.includes(value)) return;
  refuseField(out, pointer, `must be one of ${allowed.map((each) => `"${each}"`).join(', ')}.`);
}
