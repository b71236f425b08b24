// Collects the statuses of the custom resources of an instance.

import { groupOf, idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type Json } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import type { InstanceName, OwnKinds } from '../instance.ts';
import { applySetId, labelOf, PART_OF } from '../labels.ts';
import { driftCondition, isUnreported, reportedState, stateOf } from '../settle/readiness.ts';

interface ResourceCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Time in RFC 3339. */
  readonly since?: string;
}

export interface Troubled {
  /** Resource as `namespace/Kind/name`. */
  readonly resource: string;
  readonly phase?: string;
  /** Conditions that report a problem. */
  readonly conditions: readonly ResourceCondition[];
}

export interface ResourcesStatus {
  readonly resources: { readonly ready: number; readonly total: number };
  readonly troubled: readonly Troubled[];
}

export type Ours = InstanceName & OwnKinds;

export function ourResources(
  { instance, homeNamespace, kinds, apiGroup }: Ours,
  objects: readonly KubeObject[],
): readonly KubeObject[] {
  const applySet = applySetId(instance, homeNamespace);
  const names = new Set(kinds.map(({ kind }) => kind));
  return objects.filter(
    (object) =>
      names.has(object.kind) && groupOf(object.apiVersion) === apiGroup && labelOf(object, PART_OF) === applySet,
  );
}

export function resourcesOf(objects: readonly KubeObject[], ours: boolean): ResourcesStatus {
  const unwell = objects.filter((object) => {
    const { status } = object;
    if (!ours) return reportedState(object) !== 'ready';
    return !isObject(status) || stateOf(status) !== 'ready';
  });
  const isUnwell = new Set(unwell);
  return {
    resources: { ready: objects.length - unwell.length, total: objects.length },
    troubled: objects
      .filter((object) => isUnwell.has(object) || drifts(object))
      .map(troubledOf)
      .sort((a, b) => (a.resource < b.resource ? -1 : 1)),
  };
}

/**
 * Returns true if the tools of the server differ from its tools lock, or if its status does not say whether they
 * differ.
 */
function drifts({ status }: KubeObject): boolean {
  return isObject(status) && (driftCondition(status) !== undefined || isUnreported(status));
}

function troubledOf(object: KubeObject): Troubled {
  const { phase, conditions } = isObject(object.status) ? object.status : {};
  const list = Array.isArray(conditions) ? conditions.filter(isObject) : [];
  return {
    resource: formatId(idOf(object)),
    phase: typeof phase === 'string' ? phase : undefined,
    conditions: list
      .filter(({ type, status }) => (status === 'True') === WARNINGS.has(textOf(type)))
      .map(({ type, status, reason, message, lastTransitionTime: since }) => ({
        type: textOf(type),
        status: textOf(status),
        reason: textOf(reason),
        message: textOf(message),
        since: typeof since === 'string' ? since : undefined,
      })),
  };
}

/**
 * Our conditions that report a problem if they are true. All other conditions report a problem if they are not true.
 */
const WARNINGS: ReadonlySet<string> = new Set([
  'Degraded',
  'DeletionBlocked',
  'ReplicaFailure',
  'SessionStorageWarning',
  'StdioReplicaCapped',
]);

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
