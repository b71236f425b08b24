// Performs writes for controllers through the same code as writes of clients. Nothing is written if the object no
// longer exists.

import type { KubeObject } from '../../rules/object.ts';
import { commitChange, commitNew } from '../api/commit.ts';
import type { ApiContext } from '../api/context.ts';
import { type DeleteOptions, removeObject } from '../api/delete.ts';
import { inVersionOf } from '../api/find.ts';
import { readKnown } from '../api/read-object.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { keyOfObject } from '../storage/change.ts';

/** Returns the type for writes to a collection: its first served version. */
function typeOfCollection(context: ApiContext, collection: string): ResourceType | undefined {
  return context.types.all().find((type) => type.collection === collection);
}

/** Decodes `object` as its kind and stores it. Does nothing if the collection is not served. */
export function writeNew(context: ApiContext, collection: string, manager: string, object: KubeObject): void {
  const type = typeOfCollection(context, collection);
  if (type === undefined) return;
  const behaviour = context.types.behaviourOf(type);
  const read = readKnown(behaviour, { ...object, apiVersion: apiVersionOf(type), kind: type.kind });
  commitNew(context, { type, behaviour, manager, dryRun: false }, read);
}

/** Changes the stored object. Does nothing if the object does not exist or `change` returns its argument. */
export function writeChange(
  context: ApiContext,
  collection: string,
  manager: string,
  place: { readonly namespace: string; readonly name: string },
  change: (object: KubeObject) => KubeObject,
  subresource?: 'status',
): void {
  const type = typeOfCollection(context, collection);
  const stored = context.store.get({ collection, ...place });
  if (type === undefined || stored === undefined) return;
  const old = inVersionOf(type, stored);
  const next = change(old);
  if (next === old) return;
  const behaviour = context.types.behaviourOf(type);
  const through = subresource === undefined ? {} : { subresource };
  commitChange(context, { type, behaviour, manager, dryRun: false, ...through }, readKnown(behaviour, next), old);
}

/** Deletes the stored object. Does nothing if the object no longer exists or has another uid. */
export function writeRemoval(
  context: ApiContext,
  collection: string,
  object: KubeObject,
  options: Omit<DeleteOptions, 'dryRun'>,
): void {
  const type = typeOfCollection(context, collection);
  const current = context.store.get(keyOfObject(collection, object));
  if (type === undefined || current === undefined || current.metadata.uid !== object.metadata.uid) return;
  removeObject(context, type, inVersionOf(type, current), { ...options, dryRun: false });
}
