// Decides whether an instance has applied an object, from the object itself.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { entryOf } from '#kubernetes/rules/ownership/entries.ts';
import { fieldManager } from '../labels.ts';

/** Returns true for an object that shows that the instance has applied it. */
export function appliedBy(instance: string): (object: KubeObject) => boolean {
  const manager = fieldManager(instance);
  return (object) => entryOf(object, manager) !== undefined;
}
