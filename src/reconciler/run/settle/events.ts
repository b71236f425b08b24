// The Event that tells people once that a resource has failed, or why it fails now: `kubectl describe` shows it. Written
// only when the reason of the failure is another than the status had, so a run that changes nothing writes none.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { sha256 } from '#std/hash.ts';
import type { Json } from '#std/json.ts';
import { fieldManager } from '../labels.ts';
import { readyCondition, type StatusChange, stateOf } from './readiness.ts';

/** Undefined where the change is no new failure. `at` is RFC 3339, in milliseconds. */
export function failureEvent(
  { id, live, status }: Omit<StatusChange, 'written'>,
  instance: string,
  at: string,
): KubeObject | undefined {
  const ready = readyCondition(status);
  if (stateOf(status) !== 'failed' || ready === undefined) return undefined;
  const before = readyCondition(live.status ?? {});
  if (before?.status === ready.status && before?.reason === ready.reason) return undefined;
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
    metadata: { name: eventName(name, [uid, ready.reason, at]), namespace: namespace ?? 'default' },
    eventTime: at.replace(/Z$/, '000Z'),
    type: 'Warning',
    action: 'Reconcile',
    reason: shortened(ready.reason, 128),
    note: shortened(ready.message, 1024),
    regarding,
    reportingController: 'skep.dev/reconciler',
    reportingInstance: fieldManager(instance),
  };
}

/** As others name theirs: the name of what it is about, and something that tells it from the next. */
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
