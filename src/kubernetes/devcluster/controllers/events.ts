// Records Events for actions of controllers and nodes.

import { fnv1a32 } from '#std/hash.ts';
import type { KubeObject } from '../../rules/object.ts';
import { type ApiContext, timestamp } from '../api/context.ts';
import { findNamespace } from '../api/namespaces.ts';
import { writeChange, writeNew, writeRemoval } from './writer.ts';

const EVENTS = '/events';
/** Lifetime of Events, as in an API server. */
const EVENT_MS = 3_600_000;

export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/**
 * Records an Event. For a repeated Event, increments its count. Before a new Event, deletes old Events of the
 * component.
 */
export function recordEvent(context: ApiContext, regarding: Regarding, event: ClusterEvent, component: string): void {
  const { type, reason, message } = event;
  const { name: regarded, namespace, uid } = regarding;
  const home = findNamespace(context, namespace)?.metadata;
  // A namespace that is being deleted accepts no new Events.
  if (home === undefined || home.deletionTimestamp !== undefined) return;
  const name = `${regarded}.${fnv1a32(JSON.stringify([uid, reason, message]))}`;
  const time = timestamp(context);
  const place = { namespace, name };
  if (context.store.get({ collection: EVENTS, ...place }) !== undefined) {
    const again = (old: KubeObject) => ({ ...old, count: Number(old.count ?? 1) + 1, lastTimestamp: time });
    writeChange(context, EVENTS, component, place, again);
    return;
  }
  removeOld(context, namespace, component);
  const times = { firstTimestamp: time, lastTimestamp: time, count: 1 };
  const source = { component };
  writeNew(context, EVENTS, component, {
    ...{ apiVersion: 'v1', kind: 'Event', metadata: place, involvedObject: { ...regarding } },
    ...{ type, reason, message, source, reportingComponent: component, ...times },
  });
}

function removeOld(context: ApiContext, namespace: string, component: string): void {
  const limit = context.now() - EVENT_MS;
  for (const old of context.store.list(EVENTS, namespace)) {
    const last = Date.parse(String(old.lastTimestamp ?? ''));
    if (old.reportingComponent === component && last < limit) writeRemoval(context, EVENTS, old, {});
  }
}
