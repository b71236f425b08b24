// Defines the schema of status conditions, and computes new conditions from the existing conditions.

import { isObject } from '#std/json.ts';
import { choice, integer, list, object, optional, type Static, text, time } from '#std/schema.ts';
import type { Finding, Observed, Resource } from './kind.ts';

const ConditionSchema = object(
  {
    type: text('Subject of the condition.', {
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    status: choice('Whether the condition is true.', ['True', 'False', 'Unknown']),
    observedGeneration: optional(
      integer('Generation of the resource that the condition is about.', { format: 'int64', minimum: 0 }),
    ),
    lastTransitionTime: time('When the status last changed.'),
    reason: text('Reason as one word, for programs.', {
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text('Reason, for people.', { maxLength: 32768 }),
  },
  'A condition of the resource.',
);

export const ConditionsSchema = list(ConditionSchema, 'Conditions of the resource, one entry per subject.', {
  keys: ['type'],
});

type KindCondition = Static<typeof ConditionSchema>;

/** A condition without its generation and its transition time. */
export interface ConditionResult {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the conditions to write: one per result, in the order of the results. A condition whose status is unchanged
 * keeps its transition time. Existing conditions without a result are dropped.
 */
export function conditionsOf(
  resource: Resource,
  results: readonly ConditionResult[],
  observed: Observed,
): KindCondition[] {
  const { generation } = resource.metadata;
  return results.map((result) => ({
    ...result,
    observedGeneration: generation,
    lastTransitionTime: unchangedSince(resource, result) ?? observed.now,
  }));
}

function unchangedSince(resource: Resource, result: ConditionResult): string | undefined {
  const living = resource.status?.conditions;
  if (!Array.isArray(living)) return undefined;
  const same = living.find((item) => isObject(item) && item.type === result.type);
  if (!isObject(same) || same.status !== result.status) return undefined;
  const since = same.lastTransitionTime;
  return typeof since === 'string' ? since : undefined;
}

/** Returns `observedGeneration` of a status; an empty object if the resource does not exist in a cluster. */
export function observedGeneration(resource: Resource): { observedGeneration?: number } {
  const { generation } = resource.metadata;
  return generation === undefined ? {} : { observedGeneration: generation };
}

/** Returns a finding's code as the reason of a condition: `reference-missing` becomes ReferenceMissing. */
export function refusalReason({ code }: Finding): string {
  const words = code === 'invalid-pod-template' ? 'invalid-pod-template-spec' : code;
  return words.replaceAll(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
