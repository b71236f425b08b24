// Picks the Events of a resource: about the resource, its objects, their pods, and the ReplicaSets in between.

import type { JsonObject } from '#std/json.ts';
import type { ShownEvent } from '../detail-format.ts';
import { asObject } from './find-pods.ts';

/** Maximum number of Events, latest first. */
const SHOWN_MAX = 30;
const NOTE_MAX = 500;

interface Named {
  readonly kind: string;
  readonly name: string;
}

/** `about`: the objects, and the pods of their workloads, all in one namespace. */
export function eventsAbout(about: readonly Named[], events: readonly JsonObject[]): readonly ShownEvent[] {
  const names = new Set(about.map(({ kind, name }) => `${kind}/${name}`));
  const sets = about.filter(({ kind }) => kind === 'Deployment').map(({ name }) => `ReplicaSet/${name}-`);
  return events
    .map(shownEvent)
    .filter(({ object }) => names.has(object) || sets.some((start) => isSetOf(object, start)))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, SHOWN_MAX);
}

/** A Deployment names its ReplicaSets `<name>-<hash>`; the hash has no hyphen. */
function isSetOf(object: string, start: string): boolean {
  return object.startsWith(start) && !object.slice(start.length).includes('-');
}

/** Reads an Event of events.k8s.io/v1. Older reporters fill in the deprecated fields alone. */
function shownEvent(event: JsonObject): ShownEvent {
  const { regarding, series, type, reason, note, eventTime, deprecatedCount, deprecatedLastTimestamp, metadata } =
    event;
  const { kind, name } = asObject(regarding);
  const { count, lastObservedTime } = asObject(series);
  const times = [lastObservedTime, deprecatedLastTimestamp, eventTime, asObject(metadata).creationTimestamp];
  return {
    object: `${String(kind)}/${String(name)}`,
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason: typeof reason === 'string' ? reason : '',
    note: typeof note === 'string' ? note.slice(0, NOTE_MAX) : '',
    count: Number(count ?? deprecatedCount ?? 1),
    at: String(times.find((time) => typeof time === 'string') ?? ''),
  };
}
