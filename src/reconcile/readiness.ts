// How far a resource is, by its status: by `Ready` and `phase` alone. Knows nothing about kinds.

import type { Resource } from '../kinds/kind.ts';
import { isObject, type JsonObject } from '../std/json.ts';
import type { ResourceId } from '../std/problem.ts';

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
  /** It is being deleted, and may be gone before its status is written. */
  readonly departing?: true;
}

/** How far the resources are, by `Ready` and `phase`. */
export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly ResourceId[];
  readonly failed: readonly ResourceId[];
}

/** The condition that every kind has. */
export function readyCondition({ conditions }: JsonObject): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find(({ type }) => type === 'Ready');
}

export function stateOf(status: JsonObject): keyof Readiness | 'degraded' {
  const ready = readyCondition(status);
  // What somebody scaled to zero is as it should be.
  if (ready?.status === 'True' || ready?.reason === 'ScaledToZero') return 'ready';
  // It runs; what it lacks is waited for by itself, where it is ours. New pods are still to be waited for.
  if (status.phase === 'Degraded' && ready !== undefined && ready.reason !== 'RolloutInProgress') return 'degraded';
  // A kind without phases only holds settings: nothing is under way that could make them right.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}
