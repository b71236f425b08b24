// Finds objects that a person has marked to be left alone, with an annotation on the live object or in its manifest.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ResourceId } from '#std/problem.ts';
import { PRUNE, RECONCILE } from '../labels.ts';
import type { LoadedResource } from '../read/load.ts';

export interface LeftAlone {
  readonly resource: ResourceId;
  readonly reason: string;
}

/**
 * Returns the declared objects to leave alone, by key. A run neither changes nor deletes these objects and their
 * children.
 */
export function leftAloneOf(
  loaded: readonly LoadedResource[],
  living: (id: ResourceId) => KubeObject | undefined,
): ReadonlyMap<string, LeftAlone> {
  const found = new Map<string, LeftAlone>();
  for (const { id, object } of loaded) {
    const [declared, lives] = [isLeftAlone(object), isLeftAlone(living(id))];
    if (!declared && !lives) continue;
    const reason = lives ? `it has ${RECONCILE}: disabled` : `its manifest has ${RECONCILE}: disabled`;
    found.set(keyOf(id), { resource: id, reason });
  }
  return found;
}

export function isLeftAlone(object: KubeObject | undefined): boolean {
  return object?.metadata.annotations?.[RECONCILE] === 'disabled';
}

/** Returns the annotation that protects a live object from deletion; undefined if the object has none. */
export function protectionOf(object: KubeObject): string | undefined {
  if (isLeftAlone(object)) return `${RECONCILE}: disabled`;
  return object.metadata.annotations?.[PRUNE] === 'disabled' ? `${PRUNE}: disabled` : undefined;
}
