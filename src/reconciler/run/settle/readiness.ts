// Determines the readiness of a resource from its status: from `Ready` and `phase` alone.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
  /** The part of the status that we write. */
  readonly written: JsonObject;
  /** Set if the object is being deleted, and may not exist any more when its status is written. */
  readonly departing?: true;
}

/** A resource that is not ready. */
export interface NotReady extends ResourceId {
  /** The message of its condition Ready; empty if its status has none. */
  readonly why: string;
}

/** Readiness of resources, by `Ready` and `phase`. */
export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly NotReady[];
  readonly failed: readonly NotReady[];
  /** Resources that no program of this machine stands for (`skep dev`); absent if there are none. */
  readonly notRun?: readonly NotReady[];
  /**
   * Servers whose definitions differ from the reviewed ones, with the message of that condition; absent if there are
   * none.
   */
  readonly drifted?: readonly NotReady[];
}

/** Returns the resource with the message of its condition Ready. */
export function notReady(id: ResourceId, status: JsonObject): NotReady {
  const message = readyCondition(status)?.message ?? status.message;
  return { ...id, why: typeof message === 'string' ? message : '' };
}

/** Returns the condition that every kind has. */
export function readyCondition(status: JsonObject): JsonObject | undefined {
  return conditionOfType(status, 'Ready');
}

function conditionOfType({ conditions }: JsonObject, type: string): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find((condition) => condition.type === type);
}

/**
 * Returns the condition if the server offers definitions that differ from the reviewed ones. It may be ready all the
 * same.
 */
export function driftCondition(status: JsonObject): JsonObject | undefined {
  const locked = conditionOfType(status, 'ToolsLocked');
  return locked?.status === 'False' ? locked : undefined;
}

/**
 * Returns true if no report will come about whether the server matches its lock, unless its author grants the right.
 */
export function isUnreported(status: JsonObject): boolean {
  return conditionOfType(status, 'ToolsLocked')?.reason === 'DefinitionsNotReported';
}

/** Returns the message of that condition; undefined if the server matches its lock. */
export function driftText(status: JsonObject): string | undefined {
  const drift = driftCondition(status);
  return drift && (typeof drift.message === 'string' ? drift.message : '');
}

/** Returns the resource with the message of its drift; undefined if its server matches its lock. */
export function driftOf(id: ResourceId, status: JsonObject): NotReady | undefined {
  const why = driftText(status);
  return why === undefined ? undefined : { ...id, why };
}

export function stateOf(status: JsonObject): Exclude<keyof Readiness, 'drifted'> | 'degraded' {
  const ready = readyCondition(status);
  if (ready?.reason === NOT_RUN_HERE) return 'notRun';
  // A resource that a person scaled to zero is as it should be.
  if (ready?.status === 'True' || ready?.reason === 'ScaledToZero') return 'ready';
  // The server runs, and missing parts of ours are waited for by themselves. New pods are still to be waited for.
  if (status.phase === 'Degraded' && ready !== undefined && ready.reason !== 'RolloutInProgress') return 'degraded';
  // A kind without phases only holds settings: nothing is under way that could make them right.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}

/**
 * Returns the state of an object by a status that is not ours. Like kstatus, it takes an object whose status is missing
 * or unknown for ready; the phases of the existing platform count as well.
 */
export function toldState(object: KubeObject): 'ready' | 'progressing' | 'failed' {
  const status = isObject(object.status) ? object.status : {};
  const { observedGeneration, phase } = status;
  const { generation = 0 } = object.metadata;
  if (typeof observedGeneration === 'number' && observedGeneration < generation) return 'progressing';
  if (phase === 'Failed' || phase === 'Error') return 'failed';
  if (phase === 'Pending' || phase === 'Terminating' || phase === 'Syncing') return 'progressing';
  return readyCondition(status)?.status === 'False' ? 'progressing' : 'ready';
}
