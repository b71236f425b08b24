// Pairs of a desired and a living object that an apply is known not to change, though comparing alone cannot tell.
// Source: ownership.md sections 6 and 7. Knows nothing about specs or how the answer was found.

import type { KubeObject } from '../../kube/object.ts';
import { entryOf } from '../../kube/ownership/entries.ts';
import { digest } from '../../std/hash.ts';
import { jsonEquals } from '../../std/json.ts';

/** Fingerprint of the living object by fingerprint of the desired one: pairs that an apply is known not to change. */
export interface Remembered {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export function isKnown(remembered: Remembered, desired: KubeObject, live: KubeObject, manager: string): boolean {
  return remembered.get(keyFor(desired, live)) === fingerprint(live, manager);
}

/** Notes that applying `desired` left `live` as it is. */
export function remember(remembered: Remembered, desired: KubeObject, live: KubeObject, manager: string): void {
  remembered.set(keyFor(desired, live), fingerprint(live, manager));
}

/** Equal but for what a no-op apply moves all the same: entry times and order, resourceVersion, generation. */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  return jsonEquals(content(a), content(b)) && jsonEquals(entries(a), entries(b));
}

function keyFor(desired: KubeObject, live: KubeObject): string {
  return `${live.metadata.uid ?? ''}:${digest(desired)}`;
}

function fingerprint(live: KubeObject, manager: string): string {
  return digest([content(live), entryOf(live, manager)?.fieldsV1 ?? null]);
}

function content(object: KubeObject): unknown {
  const { status: _status, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function entries(object: KubeObject): unknown {
  const all = (object.metadata.managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return all.map((entry) => digest(entry)).sort();
}
