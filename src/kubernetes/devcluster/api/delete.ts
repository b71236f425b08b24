// Deletes an object or a collection (DELETE). Finalizers, including `foregroundDeletion`, keep an object visible until
// they are removed.

import { isObject, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { DEFINITIONS } from '../custom/definition.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { keyOfObject } from '../storage/change.ts';
import { readDeleteBody } from './body/body.ts';
import { type ApiContext, timestamp } from './context.ts';
import { findObject, inVersionOf } from './find.ts';
import { listObjects } from './list.ts';
import { IMMORTAL_NAMESPACES, isHeldNamespace, NAMESPACE_COLLECTION } from './namespaces.ts';
import type { ApiAnswer, ApiRequest, ObjectAnswer } from './request.ts';
import { conflict, forbidden } from './status.ts';
import { invalidOptions, readDryRun } from './write-options.ts';

/** Finalizer of a CRD that is being deleted. It is removed after the last object of the CRD. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

const UNGRACED: readonly string[] = [NAMESPACE_COLLECTION, DEFINITIONS];

type Propagation = 'Foreground' | 'Background' | 'Orphan';

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly propagation?: Propagation;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export function deleteOne(context: ApiContext, request: ApiRequest): ObjectAnswer {
  const options = readDeleteOptions(request);
  const object = findObject(context, request);
  const { type } = request;
  const outcome = removeObject(context, type, object, options);
  if (!outcome.gone || context.types.behaviourOf(type).returnsDeleted) {
    return { shape: 'object', code: 200, object: outcome.object };
  }
  return { shape: 'object', code: 200, object: success(type, outcome.object) };
}

/** Deletes the listed objects one by one and returns the list. */
export function deleteCollection(context: ApiContext, request: ApiRequest): ApiAnswer {
  const options = readDeleteOptions(request);
  const listed = listObjects(context, request);
  for (const object of listed.items) removeObject(context, request.type, object, options);
  return { ...listed, resourceVersion: String(context.store.revision()) };
}

function success(type: ResourceType, object: KubeObject): JsonObject {
  const { name, uid } = object.metadata;
  const group = type.group === '' ? {} : { group: type.group };
  const details = { name, ...group, kind: type.plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

function readDeleteOptions(request: ApiRequest): DeleteOptions {
  const { query } = request;
  const body = readDeleteBody(request);
  const dryRuns = Array.isArray(body.dryRun) ? body.dryRun.map(String) : [];
  const orphan = body.orphanDependents ?? query.get('orphanDependents');
  const legacy = orphan === true || orphan === 'true' ? 'Orphan' : undefined;
  const propagation = readPropagation(body.propagationPolicy ?? query.get('propagationPolicy') ?? legacy);
  const preconditions = isObject(body.preconditions) ? body.preconditions : {};
  const { uid, resourceVersion } = preconditions;
  return {
    dryRun: readDryRun([...query.getAll('dryRun'), ...dryRuns], 'DeleteOptions'),
    propagation,
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
  };
}

function readPropagation(value: unknown): Propagation | undefined {
  if (value === 'Foreground' || value === 'Background' || value === 'Orphan') return value;
  if (value === undefined || value === null) return undefined;
  const supported = '"Foreground", "Background", "Orphan", "nil"';
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
  throw invalidOptions('DeleteOptions', 'FieldValueNotSupported', 'propagationPolicy', message);
}

export interface Removal {
  readonly object: KubeObject;
  /** False if finalizers delay the deletion. */
  readonly gone: boolean;
}

/** Throws 409 if a precondition fails, and 403 for namespaces that must not be deleted. */
export function removeObject(
  context: ApiContext,
  type: ResourceType,
  object: KubeObject,
  options: DeleteOptions,
): Removal {
  checkDeletePreconditions(type, object, options);
  if (type.collection === NAMESPACE_COLLECTION && IMMORTAL_NAMESPACES.includes(object.metadata.name)) {
    throw forbidden(type, object.metadata.name, 'this namespace may not be deleted');
  }
  const finalizers = finalizersFor(type, object, options.propagation);
  if (finalizers.length === 0 && !isHeldNamespace(type, object)) {
    const key = keyOfObject(type.collection, object);
    const removed = options.dryRun ? object : context.store.remove(key);
    return { object: inVersionOf(type, removed ?? object), gone: true };
  }
  const held = withDeletion(context, type, object, finalizers);
  const unchanged = held === object || options.dryRun;
  return { object: unchanged ? held : inVersionOf(type, context.store.put(type.collection, held)), gone: false };
}

function checkDeletePreconditions(
  type: ResourceType,
  object: KubeObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const { metadata } = object;
  // The messages of these two conflicts contain the kind instead of the plural name.
  const named = { ...type, plural: type.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`;
    throw conflict(named, metadata.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''}). The object might have been modified`;
    throw conflict(named, metadata.name, why);
  }
}

/**
 * Sets or removes the finalizers `orphan` and `foregroundDeletion` by the propagation policy. Keeps other finalizers.
 */
function finalizersFor(
  type: ResourceType,
  object: KubeObject,
  propagation: Propagation | undefined,
): readonly string[] {
  const own = object.metadata.finalizers ?? [];
  const isNewlyGoing = type.collection === DEFINITIONS && object.metadata.deletionTimestamp === undefined;
  // The finalizer keeps a CRD until its objects are deleted.
  const present = isNewlyGoing && !own.includes(CLEANUP_FINALIZER) ? [...own, CLEANUP_FINALIZER] : own;
  if (propagation === undefined) return present;
  const others = present.filter((finalizer) => finalizer !== 'foregroundDeletion' && finalizer !== 'orphan');
  if (propagation === 'Background') return others;
  return [...others, propagation === 'Orphan' ? 'orphan' : 'foregroundDeletion'];
}

function withDeletion(
  context: ApiContext,
  type: ResourceType,
  object: KubeObject,
  finalizers: readonly string[],
): KubeObject {
  const { metadata } = object;
  const started = metadata.deletionTimestamp !== undefined;
  const same =
    finalizers.length === (metadata.finalizers ?? []).length &&
    finalizers.every((f) => metadata.finalizers?.includes(f));
  if (started && same) return object;
  const { finalizers: _given, ...others } = metadata;
  const held = {
    ...others,
    ...(finalizers.length === 0 ? {} : { finalizers: [...finalizers] }),
    ...(started ? {} : { deletionTimestamp: timestamp(context) }),
    // Namespaces and CRDs are deleted without a grace period.
    ...(started || UNGRACED.includes(type.collection) ? {} : { deletionGracePeriodSeconds: 0 }),
    ...(started || metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
  };
  const phase = type.collection === NAMESPACE_COLLECTION ? { status: { phase: 'Terminating' } } : {};
  return { ...object, metadata: held, ...phase };
}
