// Computes the condition about the author's pod template.

import type { JsonObject } from '#std/json.ts';
import type { ConditionResult } from '../conditions.ts';
import type { Finding } from '../kind.ts';

export function podTemplateConditions(
  template: JsonObject | undefined,
  refusals: readonly Finding[],
): readonly ConditionResult[] {
  if (template === undefined) return [];
  const type = 'PodTemplateValid';
  const faults = refusals.filter(({ code }) => code === 'invalid-pod-template');
  if (faults.length === 0) {
    return [{ type, status: 'True', reason: 'ValidPodTemplateSpec', message: 'podTemplateSpec is a pod template' }];
  }
  const message = faults.map((fault) => fault.message).join('; ');
  return [{ type, status: 'False', reason: 'InvalidPodTemplateSpec', message }];
}
