// Turns what `kube/structural` finds into causes of a 422. Knows the API's names for reasons, not the rules.

import type { Finding } from '../../kube/finding.ts';
import { pointerTokens } from '../../std/json.ts';
import type { Cause } from '../api/status.ts';

export function causesOf(findings: readonly Finding[]): Cause[] {
  return findings.map(({ code, pointer, message }) => ({ reason: reasonOf(code), message, field: fieldPath(pointer) }));
}

function reasonOf(code: string): Cause['reason'] {
  if (code.includes('required')) return 'FieldValueRequired';
  if (code.includes('enum')) return 'FieldValueNotSupported';
  if (code.includes('duplicate')) return 'FieldValueDuplicate';
  if (code.includes('type')) return 'FieldValueTypeInvalid';
  return 'FieldValueInvalid';
}

/** `/spec/ports/0/name` -> `spec.ports[0].name`. */
export function fieldPath(pointer: string): string {
  return pointerTokens(pointer).reduce((path, token) => {
    if (/^[0-9]+$/.test(token)) return `${path}[${token}]`;
    return path === '' ? token : `${path}.${token}`;
  }, '');
}
