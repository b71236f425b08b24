// Determines the readiness of a resource from its condition Ready and its phase.

import { NOT_RUN_HERE } from '#kubernetes/rules/not-run-here.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Resource } from '../../kinds/kind.ts';

export interface StatusChange {
  readonly id: ResourceId;
  readonly live: Resource;
  readonly status: JsonObject;
  readonly written: JsonObject;
  /** Set if the object is being deleted. It may no longer exist when its status is written. */
  readonly departing?: true;
}

/** A resource that is not ready. */
export interface NotReady extends ResourceId {
  /** Message of the condition Ready; empty if the condition has no message. */
  readonly why: string;
}

export interface Readiness {
  readonly ready: readonly ResourceId[];
  readonly progressing: readonly NotReady[];
  readonly failed: readonly NotReady[];
  /** Resources for which `skep dev` runs no program on this machine. */
  readonly notRun?: readonly NotReady[];
  /** Servers whose tool definitions differ from the reviewed definitions, with the message of the condition. */
  readonly drifted?: readonly NotReady[];
}

/** Returns the resource with the message of its condition Ready. */
export function notReady(id: ResourceId, status: JsonObject): NotReady {
  const message = readyCondition(status)?.message ?? status.message;
  return { ...id, why: typeof message === 'string' ? message : '' };
}

/** Returns the condition Ready, which every kind has; undefined before the first status. */
export function readyCondition(status: JsonObject): JsonObject | undefined {
  return conditionOfType(status, 'Ready');
}

function conditionOfType({ conditions }: JsonObject, type: string): JsonObject | undefined {
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return list.find((condition) => condition.type === type);
}

/**
 * Returns the condition ToolsLocked if the tool definitions of the server differ from the reviewed definitions. A
 * server with this condition may be ready.
 */
export function driftCondition(status: JsonObject): JsonObject | undefined {
  const locked = conditionOfType(status, 'ToolsLocked');
  return locked?.status === 'False' ? locked : undefined;
}

/**
 * Returns true if the server could not be compared with its tools lock, because a permission for the comparison is
 * missing.
 */
export function isUnreported(status: JsonObject): boolean {
  return conditionOfType(status, 'ToolsLocked')?.reason === 'DefinitionsNotReported';
}

/** Returns the message about the difference; undefined if the status reports no difference. */
export function driftText(status: JsonObject): string | undefined {
  const drift = driftCondition(status);
  return drift && (typeof drift.message === 'string' ? drift.message : '');
}

/** Returns the resource with the message about the difference; undefined if the status reports no difference. */
export function driftOf(id: ResourceId, status: JsonObject): NotReady | undefined {
  const why = driftText(status);
  return why === undefined ? undefined : { ...id, why };
}

export function stateOf(status: JsonObject): Exclude<keyof Readiness, 'drifted'> | 'degraded' {
  const ready = readyCondition(status);
  if (ready?.reason === NOT_RUN_HERE) return 'notRun';
  // A person has scaled the resource to zero, so zero replicas are the desired state.
  if (ready?.status === 'True' || ready?.reason === 'ScaledToZero') return 'ready';
  // The server runs, and its missing backends have their own readiness. During a rollout, the server is still
  // progressing.
  if (status.phase === 'Degraded' && ready !== undefined && ready.reason !== 'RolloutInProgress') return 'degraded';
  // Kinds without a phase contain only settings. If such a resource is not ready, it does not become ready by itself.
  return status.phase === 'Failed' || status.phase === undefined ? 'failed' : 'progressing';
}

/**
 * Returns the state from a status that another program writes, with the phases of ToolHive. As in kstatus, an object
 * with a missing or unknown status is ready.
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
