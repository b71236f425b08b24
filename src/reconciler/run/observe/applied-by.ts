// Decides from an object's managed fields whether an instance has applied the object.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { fieldManager } from '../labels.ts';

/** Returns a function that returns true if the instance has applied the object. */
export function appliedBy(instance: string): (object: KubeObject) => boolean {
  const manager = fieldManager(instance);
  return (object) => entryOf(object, manager) !== undefined;
}
