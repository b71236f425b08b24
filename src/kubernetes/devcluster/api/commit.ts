// Performs the last steps of every write: tracks ownership, validates, and stores the object. Nothing is stored if
// nothing changed or the write is a dry run.

import type { KubeObject } from '../../rules/object.ts';
import { keepTimes, trackUpdate } from '../../rules/ownership/write/apply.ts';
import type { Behaviour, Neighbours } from '../resources/behaviour.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { keyOfObject } from '../storage/change.ts';
import { type ApiContext, timestamp } from './context.ts';
import { validateFinalizers, withKeptMetadata, withNewMetadata } from './metadata.ts';
import { isHeldNamespace } from './namespaces.ts';
import { alreadyExists, invalid } from './status.ts';
import { validateMetadata } from './validate-metadata.ts';

export interface Write {
  readonly type: ResourceType;
  readonly behaviour: Behaviour;
  readonly manager: string;
  readonly dryRun: boolean;
  readonly subresource?: string;
  /** True if a server-side apply has already set managedFields. */
  readonly tracked?: boolean;
  /**
   * If set, stores the object even if nothing changed, as a real API server does after some applies to custom
   * resources. `as-new-generation` also increments the generation, because the apply contains pruned fields.
   */
  readonly stored?: 'always' | 'as-new-generation';
}

/** Stores a new object. `object` must be decoded as its kind, with defaults and its namespace. Throws 409 and 422. */
export function commitNew(context: ApiContext, write: Write, object: KubeObject): KubeObject {
  const { type, behaviour } = write;
  const tracked = track(context, write, object, undefined);
  const prepared = withGeneration(
    behaviour.prepareCreate(withNewMetadata(context, tracked), neighboursIn(context)),
    behaviour.firstGeneration ?? object.metadata.generation,
  );
  const named = withGeneratedName(context, type, prepared);
  const { name } = named.metadata;
  const causes = [...validateMetadata(named, behaviour.nameForm), ...behaviour.validate(named, undefined, undefined)];
  if (causes.length > 0) throw invalid(type, name ?? '', causes);
  const existing = context.store.get(keyOfObject(type.collection, named));
  if (existing !== undefined) throw alreadyExists(type, name, existing.metadata.deletionTimestamp !== undefined);
  return write.dryRun ? named : context.store.put(type.collection, named);
}

/**
 * Stores a changed object. `next` must be decoded as its kind. `old` is the stored object. `next` and `old` have the
 * apiVersion of the request. Throws 422.
 */
export function commitChange(context: ApiContext, write: Write, next: KubeObject, old: KubeObject): KubeObject {
  const { type, behaviour } = write;
  const kept = withKeptMetadata(next, old);
  const tracked = track(context, write, kept, old);
  const prepared = prepareChange(context, write, tracked, old);
  const causes = [
    ...validateMetadata(prepared, behaviour.nameForm),
    ...validateFinalizers(prepared, old),
    ...behaviour.validate(prepared, old, write.subresource),
  ];
  if (causes.length > 0) throw invalid(type, old.metadata.name, causes);
  const settled = keepTimes(old, prepared);
  if (settled === old && write.stored === undefined) return old;
  const counts =
    write.stored === 'as-new-generation' || (write.subresource !== 'status' && behaviour.movesGeneration(settled, old));
  const moved = counts ? (old.metadata.generation ?? 0) + 1 : old.metadata.generation;
  const stored = withGeneration(settled, moved);
  if (write.dryRun) return stored;
  return isFinished(type, stored) ? removeFinished(context, type, stored) : context.store.put(type.collection, stored);
}

function prepareChange(context: ApiContext, write: Write, next: KubeObject, old: KubeObject): KubeObject {
  switch (write.subresource) {
    case undefined:
      return write.behaviour.prepareUpdate(next, old, neighboursIn(context));
    case 'status':
      return write.behaviour.prepareStatusUpdate(next, old);
    default:
      return next;
  }
}

function neighboursIn({ store }: ApiContext): Neighbours {
  return (collection) => store.list(collection);
}

function track(context: ApiContext, write: Write, after: KubeObject, before: KubeObject | undefined): KubeObject {
  if (write.tracked === true) return after;
  return trackUpdate({
    type: write.behaviour.mergeType,
    manager: write.manager,
    apiVersion: apiVersionOf(write.type),
    time: timestamp(context),
    after,
    before,
    subresource: write.subresource,
    ...resetOf(write.behaviour),
  });
}

/** If the kind has no status subresource, an apply also owns the status fields that it sets. */
export function resetOf(behaviour: Behaviour): { readonly reset?: readonly (readonly string[])[] } {
  return behaviour.separatesStatus ? {} : { reset: [] };
}

function withGeneration(object: KubeObject, generation: number | undefined): KubeObject {
  const { generation: _given, ...metadata } = object.metadata;
  return { ...object, metadata: generation === undefined ? metadata : { ...metadata, generation } };
}

function withGeneratedName(context: ApiContext, type: ResourceType, object: KubeObject): KubeObject {
  const { name, generateName } = object.metadata;
  if ((name ?? '') !== '' || generateName === undefined || generateName === '') return object;
  for (;;) {
    const metadata = { ...object.metadata, name: `${generateName.slice(0, 58)}${context.newSuffix()}` };
    const candidate = { ...object, metadata };
    if (context.store.get(keyOfObject(type.collection, candidate)) === undefined) return candidate;
  }
}

/** True if the object is being deleted and no finalizer is left. */
function isFinished(type: ResourceType, object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && !isHeldNamespace(type, object);
}

function removeFinished(context: ApiContext, type: ResourceType, object: KubeObject): KubeObject {
  context.store.remove(keyOfObject(type.collection, object));
  return object;
}
