// Creates the Event that reports a new failure once, with its reason, or that a server differs from its lock: `kubectl
// describe` shows it. It is written only if the reason of the failure differs from the one in the status, so a run that
// changes nothing writes none.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';
import type { Json, JsonObject } from '#std/json.ts';
import { fieldManager } from '../labels.ts';
import { driftCondition, readyCondition, type StatusChange, stateOf } from './readiness.ts';

/** Returns undefined if the change is not a new failure. `at` is RFC 3339, in milliseconds. */
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

/** Returns the condition that reports a failure since the status was written. */
function newFailure(before: JsonObject, status: JsonObject): JsonObject | undefined {
  const ready = readyCondition(status);
  if (stateOf(status) === 'failed' && ready !== undefined && isNewReason(readyCondition(before), ready)) return ready;
  const drift = driftCondition(status);
  return drift !== undefined && isNewReason(driftCondition(before), drift) ? drift : undefined;
}

function isNewReason(before: JsonObject | undefined, now: JsonObject): boolean {
  return before?.status !== now.status || before?.reason !== now.reason;
}

/** Names the Event as others do: the name of its subject, and a suffix that distinguishes it from the next. */
function eventName(name: string, parts: readonly (Json | undefined)[]): string {
  const suffix = sha256(JSON.stringify(parts)).slice(0, 16);
  return `${name.slice(0, 253 - suffix.length - 1)}.${suffix}`;
}

/** The API server refuses longer texts; it counts bytes. */
function shortened(value: Json | undefined, bytes: number): string {
  const text = typeof value === 'string' ? value : '';
  const data = Buffer.from(text, 'utf8');
  if (data.length <= bytes) return text;
  const whole = data.subarray(0, bytes - ELLIPSIS.length).toString('utf8');
  return `${whole.replace(/\uFFFD$/, '')}${ELLIPSIS}`;
}

const ELLIPSIS = '...';
