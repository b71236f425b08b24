// Finds entries in an object's managedFields.

import type { KubeObject, ManagedFieldsEntry } from '../object.ts';

/** Returns the entry for a manager's applies to the main resource. An object has at most one. */
export function entryOf(live: KubeObject, manager: string): ManagedFieldsEntry | undefined {
  return live.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && !entry.subresource,
  );
}
