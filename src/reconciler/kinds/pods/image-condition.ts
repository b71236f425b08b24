// Computes the condition that says whether the image may run in this namespace.

import { isObject } from '#std/json.ts';
import type { ConditionResult } from '../conditions.ts';
import type { Observed } from '../kind.ts';

export function imageCondition({ view, refusals }: Observed): ConditionResult {
  const type = 'ImageValidated';
  const refusal = refusals.find(({ code }) => code === 'image-not-enforced' || code === 'image-unknown');
  if (refusal !== undefined) {
    const reason = refusal.code === 'image-unknown' ? 'ImageValidationError' : 'ImageValidationFailed';
    return { type, status: 'False', reason, message: refusal.message };
  }
  const enforcing = view.all('MCPRegistry').some(({ spec }) => isObject(spec) && spec.enforceServers === true);
  if (!enforcing) {
    const message = 'no MCPRegistry of this namespace enforces its images';
    return { type, status: 'True', reason: 'ImageValidationSkipped', message };
  }
  return {
    type,
    status: 'True',
    reason: 'ImageValidationSuccess',
    message: 'every image is in a registry of this namespace',
  };
}
