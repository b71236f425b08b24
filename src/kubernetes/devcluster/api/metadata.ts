// Implements the common rules for metadata: fields that the server sets, and fields that clients may change.

import type { KubeObject, ObjectMeta } from '../../rules/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { type ApiContext, timestamp } from './context.ts';
import type { ApiRequest } from './request.ts';
import { apiError, badRequest, type Cause, conflict, invalid, modified } from './status.ts';

/** Returns the object with the namespace of the request. Throws a 400 if the object has another namespace. */
export function inNamespace(object: KubeObject, type: ResourceType, namespace: string | undefined): KubeObject {
  const given = object.metadata.namespace ?? '';
  if (!type.namespaced) {
    if (given === '') return object;
    throw badRequest('namespace may not be set on a cluster-scoped object');
  }
  if (namespace === undefined) throw badRequest('the namespace of the request is missing');
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** Returns the object with the name in the URL. Throws a 400 if the body has another name. */
export function withRequestName(object: KubeObject, request: ApiRequest): KubeObject {
  const expected = request.name ?? '';
  const { name } = object.metadata;
  if (name === undefined || name === '') return { ...object, metadata: { ...object.metadata, name: expected } };
  if (name === expected) return object;
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`);
}

/** Sets the uid and creationTimestamp of a new object, and removes fields that the server sets later. */
export function withNewMetadata(context: ApiContext, object: KubeObject): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion, ...given } = object.metadata;
  const metadata: ObjectMeta = { ...given, uid: context.newUid(), creationTimestamp: timestamp(context) };
  return { ...object, metadata };
}

/** Rules for a write: whether it needs a resourceVersion, and the error if the uid differs. */
export interface Preconditions {
  readonly unconditional: boolean;
  readonly otherUid: 'conflict' | 'invalid';
}

/** Throws if a required resourceVersion is missing, or if the resourceVersion or uid differs from the stored object. */
export function checkPreconditions(type: ResourceType, next: KubeObject, old: KubeObject, on: Preconditions): void {
  const { name } = old.metadata;
  const { resourceVersion, uid } = next.metadata;
  if (uid !== undefined && uid !== '' && uid !== old.metadata.uid) throw otherUid(type, old, uid, on);
  const { unconditional } = on;
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (unconditional) return;
    const message = 'Invalid value: 0: must be specified for an update';
    // The message of this error contains the plural name instead of the kind.
    const named = { ...type, kind: type.plural };
    throw invalid(named, name, [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }]);
  }
  if (!/^[0-9]+$/.test(resourceVersion)) {
    throw apiError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw modified(type, name);
}

function otherUid(type: ResourceType, old: KubeObject, uid: string, on: Preconditions): Error {
  const { name, namespace } = old.metadata;
  if (on.otherUid === 'invalid') {
    const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
    return invalid(type, name, [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }]);
  }
  const place = [type.plural, namespace, name].filter((part) => part !== undefined).join('/');
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`;
  const storage = `invalid object, Code: 4, Key: /registry/${place}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  return conflict(type, name, `StorageError: ${storage}`);
}

/** Returns `next` with the metadata of `old` that clients cannot change, including the generation. */
export function withKeptMetadata(next: KubeObject, old: KubeObject): KubeObject {
  const kept: Record<string, unknown> = { ...next.metadata };
  for (const key of KEPT) {
    const value = (old.metadata as Record<string, unknown>)[key];
    if (value === undefined) delete kept[key];
    else kept[key] = value;
  }
  return { ...next, metadata: kept as ObjectMeta };
}

const KEPT = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** Reports finalizers that were added to an object that is being deleted. */
export function validateFinalizers(next: KubeObject, old: KubeObject): readonly Cause[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = new Set(old.metadata.finalizers);
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [{ reason: 'FieldValueForbidden', message, field: 'metadata.finalizers' }];
}
