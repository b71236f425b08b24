// Decides from an object itself whether an instance has applied it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { fieldManager } from '../labels.ts';

/** Returns a function that returns true if an object shows that the instance has applied it. */
export function appliedBy(instance: string): (object: KubeObject) => boolean {
  const manager = fieldManager(instance);
  return (object) => entryOf(object, manager) !== undefined;
}
