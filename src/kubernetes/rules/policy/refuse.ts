// How the checks of this folder word what an API server would refuse.

import type { Json } from '#std/json.ts';
import { fieldPath } from '../structural/path.ts';
import type { Report } from '../structural/report.ts';
import type { PolicyCode } from './codes.ts';

/** `message` goes on where the field's name ends: "must not be empty." */
export function refuseField(out: Report, pointer: string, message: string, code: PolicyCode = 'policy-invalid'): void {
  out.findings.push({ code, severity: 'error', pointer, message: `${fieldPath(pointer)} ${message}` });
}

/** Absent is fine: the server fills in its default. Values of another type are the schema's to find. */
export function requireOneOf(out: Report, value: Json | undefined, allowed: readonly string[], pointer: string): void {
  if (typeof value !== 'string' || allowed.includes(value)) return;
  refuseField(out, pointer, `must be one of ${allowed.map((each) => `"${each}"`).join(', ')}.`);
}
