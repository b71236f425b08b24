// Finds entries in an object's managedFields.

import type { KubeObject, ManagedFieldsEntry } from '../object.ts';

/** Returns the entry of a manager's applies to the main resource. There is at most one. */
export function entryOf(live: KubeObject, manager: string): ManagedFieldsEntry | undefined {
  return live.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
}
