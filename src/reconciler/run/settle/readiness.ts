// How far a resource is, by its status: by `Ready` and `phase` alone.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
  /** The part of it that is ours to write. */
  readonly written: JsonObject;
  /** It is being deleted, and may be gone before its status is written. */
  readonly departing?: true;
}

/** A resource that is not ready. */
export interface NotReady extends ResourceId {
  /** The message of its condition Ready; empty if its status has none. */
  readonly why: string;
}

/** How far the resources are, by `Ready` and `phase`. */
export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly NotReady[];
  readonly failed: readonly NotReady[];
  /** Resources that no program of this machine stands for (`skep dev`); absent if there are none. */
  readonly notRun?: readonly NotReady[];
  /** Servers with definitions that are not as they were reviewed, with the message of that condition; absent if there are none. */
  readonly drifted?: readonly NotReady[];
}

/** The resource with the message of its condition Ready. */
export function notReady(id: ResourceId, status: JsonObject): NotReady {
  const message = readyCondition(status)?.message ?? status.message;
  return { ...id, why: typeof message === 'string' ? message : '' };
}

/** The condition that every kind has. */
export function readyCondition(status: JsonObject): JsonObject | undefined {
  return conditionOfType(status, 'Ready');
}

function conditionOfType({ conditions }: JsonObject, type: string): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find((condition) => condition.type === type);
}

/** The server offers definitions that are not as they were reviewed. It may be ready all the same. */
export function driftCondition(status: JsonObject): JsonObject | undefined {
  const locked = conditionOfType(status, 'ToolsLocked');
  return locked?.status === 'False' ? locked : undefined;
}

/** No report will come whether the server is as its lock says, unless its author gives the right. */
export function isUnreported(status: JsonObject): boolean {
  return conditionOfType(status, 'ToolsLocked')?.reason === 'DefinitionsNotReported';
}

/** The message of that condition; undefined if the server is as its lock says. */
export function driftText(status: JsonObject): string | undefined {
  const drift = driftCondition(status);
  return drift && (typeof drift.message === 'string' ? drift.message : '');
}

/** The resource with the message of its drift; undefined if its server is as its lock says. */
export function driftOf(id: ResourceId, status: JsonObject): NotReady | undefined {
  const why = driftText(status);
  return why === undefined ? undefined : { ...id, why };
}

export function stateOf(status: JsonObject): Exclude<keyof Readiness, 'drifted'> | 'degraded' {
  const ready = readyCondition(status);
  if (ready?.reason === NOT_RUN_HERE) return 'notRun';
  // What someone scaled to zero is as it should be.
  if (ready?.status === 'True' || ready?.reason === 'ScaledToZero') return 'ready';
  // It runs; what it lacks is waited for by itself, where it is ours. New pods are still to be waited for.
  if (status.phase === 'Degraded' && ready !== undefined && ready.reason !== 'RolloutInProgress') return 'degraded';
  // A kind without phases only holds settings: nothing is under way that could make them right.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}

/**
 * How far an object is by a status that is not ours. As kstatus reads it: what says nothing, or nothing known, is as it
 * should be; and the phases of the existing platform.
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
