// Merges status conditions. A condition keeps its times until its content changes.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { NOT_RUN_HERE } from '../../rules/not-run-here.ts';

export interface StatusCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Returns the new conditions. A condition with unchanged content keeps its times. */
export function keepConditionTimes(
  old: Json | undefined,
  desired: readonly StatusCondition[],
  time: string,
  hasUpdateTime: boolean,
): JsonObject[] {
  const known = Array.isArray(old) ? old.filter(isObject) : [];
  return desired.map(({ type, status, reason, message }) => {
    const before = known.find((condition) => condition.type === type);
    const same = before?.status === status && before.reason === reason && before.message === message;
    const since = before?.status === status ? (before.lastTransitionTime ?? time) : time;
    const updated = hasUpdateTime ? { lastUpdateTime: same ? (before.lastUpdateTime ?? time) : time } : {};
    return { type, status, ...updated, lastTransitionTime: since, reason, message };
  });
}

/**
 * Returns the condition of a workload that is reported as ready although no node runs its pods. Returns an empty list
 * if `absent` is empty or undefined.
 */
export function notRunHere(absent: string | undefined): readonly StatusCondition[] {
  if (absent === undefined || absent === '') return [];
  return [{ type: NOT_RUN_HERE, status: 'True', reason: NOT_RUN_HERE, message: absent }];
}
