// Creates the Event about a new failure of a resource, or about a new difference between a server and its tools lock.
// An Event is written only if the reason in the status changes, so that a run without changes writes no Event.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { fieldManager } from '../labels.ts';
import { driftCondition, readyCondition, type StatusChange, stateOf } from './readiness.ts';

/** Returns the Event; undefined if the failure is not new. `at` is RFC 3339 with milliseconds. */
export function failureEvent(
  { id, live, status }: Omit<StatusChange, 'written'>,
  instance: string,
  at: string,
): KubeObject | undefined {
  const failed = newFailure(live.status ?? {}, status);
  if (failed === undefined) return undefined;
  const { name, namespace, uid, resourceVersion } = live.metadata;
  const regarding = {
    ...{ apiVersion: id.apiVersion, kind: id.kind, name },
    namespace,
    uid,
    resourceVersion,
  };
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(name, [uid, failed.reason, at]), namespace: namespace ?? 'default' },
    eventTime: at.replace(/Z$/, '000Z'),
    type: 'Warning',
    action: 'Reconcile',
    reason: shortened(failed.reason, 128),
    note: shortened(failed.message, 1024),
    regarding,
    reportingController: 'skep.dev/reconciler',
    reportingInstance: fieldManager(instance),
  };
}

/** Returns a condition with a failure or difference that the current status does not have. */
function newFailure(before: JsonObject, status: JsonObject): JsonObject | undefined {
  const ready = readyCondition(status);
  if (stateOf(status) === 'failed' && ready !== undefined && isNewReason(readyCondition(before), ready)) return ready;
  const drift = driftCondition(status);
  return drift !== undefined && isNewReason(driftCondition(before), drift) ? drift : undefined;
}

function isNewReason(before: JsonObject | undefined, now: JsonObject): boolean {
  return before?.status !== now.status || before?.reason !== now.reason;
}

/** Returns the name of the Event: by convention, the name of the object and a unique suffix. */
function eventName(name: string, parts: readonly (Json | undefined)[]): string {
  const suffix = sha256(JSON.stringify(parts)).slice(0, 16);
  return `${name.slice(0, 253 - suffix.length - 1)}.${suffix}`;
}

/** Shortens a text to a number of bytes, because the API server refuses longer texts. */
function shortened(value: Json | undefined, bytes: number): string {
  const text = typeof value === 'string' ? value : '';
  const data = Buffer.from(text, 'utf8');
  if (data.length <= bytes) return text;
  const whole = data.subarray(0, bytes - ELLIPSIS.length).toString('utf8');
  return `${whole.replace(/\uFFFD$/, '')}${ELLIPSIS}`;
}

const ELLIPSIS = '...';
