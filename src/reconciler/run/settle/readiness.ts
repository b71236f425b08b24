// Determines the readiness of a resource from `Ready` and `phase` in its status.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
  /** Part of the status that we write. */
  readonly written: JsonObject;
  /** Set if the object is being deleted, so that it may be gone when its status is written. */
  readonly departing?: true;
}

/** A resource that is not ready. */
export interface NotReady extends ResourceId {
  /** Message of its condition Ready; empty if the status has no such message. */
  readonly why: string;
}

/** Readiness of resources, by `Ready` and `phase`. */
export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly NotReady[];
  readonly failed: readonly NotReady[];
  /** Resources that no program of this machine runs (`skep dev`); absent if there are no such resources. */
  readonly notRun?: readonly NotReady[];
  /**
   * Servers whose definitions differ from the reviewed definitions, with the message of the condition; absent without
   * such servers.
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
 * Returns the condition if the server offers definitions that differ from the reviewed definitions. The server may be
 * ready nevertheless.
 */
export function driftCondition(status: JsonObject): JsonObject | undefined {
  const locked = conditionOfType(status, 'ToolsLocked');
  return locked?.status === 'False' ? locked : undefined;
}

/** Returns true if the server cannot be compared with its lock until its author grants a permission. */
export function isUnreported(status: JsonObject): boolean {
  return conditionOfType(status, 'ToolsLocked')?.reason === 'DefinitionsNotReported';
}

/** Returns the message of the drift condition; undefined if the server matches its lock. */
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
  // A resource that a person scaled to zero is in its intended state.
  if (ready?.status === 'True' || ready?.reason === 'ScaledToZero') return 'ready';
  // The server runs. Its missing children are waited for as resources of their own, but a rollout must complete first.
  if (status.phase === 'Degraded' && ready !== undefined && ready.reason !== 'RolloutInProgress') return 'degraded';
  // Kinds without phases only contain settings: no work is under way that could correct them.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}

/**
 * Returns the state of an object from a status that another program writes. Like kstatus, an object with a missing or
 * unknown status counts as ready; the phases of ToolHive are known as well.
 */
export function reportedState(object: KubeObject): 'ready' | 'progressing' | 'failed' {
  const status = isObject(object.status) ? object.status : {};
  const { observedGeneration, phase } = status;
  const { generation = 0 } = object.metadata;
  if (typeof observedGeneration === 'number' && observedGeneration < generation) return 'progressing';
  if (phase === 'Failed' || phase === 'Error') return 'failed';
  if (phase === 'Pending' || phase === 'Terminating' || phase === 'Syncing') return 'progressing';
  return readyCondition(status)?.status === 'False' ? 'progressing' : 'ready';
}
