// Keeps recent readings of metrics, so that the console can compare a reading with an earlier one.

import type { TimedSamples } from '#reconciler/run/fleet-state/pods/traffic.ts';
import { setBounded } from '#std/bounded.ts';

/** Age of the oldest reading with which a reading is compared. */
const WINDOW_MS = 10 * 60_000;
/** Minimum time between two readings for a rate. */
const APART_MS = 30_000;
/** Maximum number of resources whose readings are kept, and of readings of one resource. */
const RESOURCES_MAX = 200;
const READINGS_MAX = 20;

export interface TrafficMemory {
  /** Returns the oldest reading in the window that is old enough for a rate, and keeps the new one. */
  compared(resource: string, now: TimedSamples): TimedSamples | undefined;
}

export function openTrafficMemory(): TrafficMemory {
  const kept = new Map<string, readonly TimedSamples[]>();
  return {
    compared(resource, now) {
      const recent = (kept.get(resource) ?? []).filter(({ at }) => now.at - at <= WINDOW_MS);
      const last = recent.at(-1);
      const isFurther = last === undefined || now.at - last.at >= APART_MS;
      setBounded(kept, resource, isFurther ? [...recent, now].slice(-READINGS_MAX) : recent, RESOURCES_MAX);
      return recent.find(({ at }) => now.at - at >= APART_MS);
    },
  };
}
