// Decodes the body of a write as an object of the requested kind. Checks kind and version, and reports unknown and
// repeated fields by `fieldValidation`.

import assert from 'node:assert/strict';
import { isObject, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { Behaviour, ReadObject } from '../resources/behaviour.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { ReadBody } from './body/body.ts';
import type { WriteOptions } from './request.ts';
import { badRequest, invalid } from './status.ts';

export interface Admitted {
  readonly object: ReadObject['object'];
  readonly warnings: readonly string[];
}

/** Creates the error for a body that cannot be decoded. For a create or replace it is a 400. */
export type CreateError = (why: string) => Error;

/**
 * Decodes the object. Throws if the kind or the type of a value is wrong and, with `Strict`, for unknown and repeated
 * fields.
 */
export function admitBody(
  type: ResourceType,
  behaviour: Behaviour,
  body: ReadBody,
  options: WriteOptions,
  refuse: CreateError = (why) => unhandled(type, why),
): Admitted {
  const read = behaviour.read(withKind(type, body.value));
  if ('mismatch' in read) throw refuse(read.mismatch);
  const complaints = [...body.duplicates, ...read.unknown];
  if (options.fieldValidation === 'Strict' && complaints.length > 0) {
    throw refuse(`strict decoding error: ${complaints.join(', ')}`);
  }
  return { object: read.object, warnings: options.fieldValidation === 'Warn' ? complaints : [] };
}

function unhandled(type: ResourceType, why: string): Error {
  return badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
}

/** Decodes an object that this server has created itself. An object that does not fit its kind is a bug. */
export function readKnown(behaviour: Behaviour, value: KubeObject | JsonObject): KubeObject {
  const read = behaviour.read(value as JsonObject);
  assert('object' in read, 'objects that this server creates fit their kind');
  return read.object;
}

/** Adds missing apiVersion and kind. Throws if they differ from the request. */
function withKind(type: ResourceType, value: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(type);
  const kindGiven = value.kind ?? '';
  const versionGiven = value.apiVersion ?? '';
  const kind = kindGiven === '' ? type.kind : kindGiven;
  const version = versionGiven === '' ? apiVersion : versionGiven;
  if (kind !== type.kind || version !== apiVersion) throw otherKind(type, String(kind), String(version), value);
  return { ...value, apiVersion, kind };
}

/**
 * Returns the error for a body of another kind. As in an API server, the error for a custom kind rejects the version or
 * the kind. The error for a built-in kind reports a failed conversion.
 */
function otherKind(type: ResourceType, kind: string, version: string, value: JsonObject): Error {
  const apiVersion = apiVersionOf(type);
  if (version !== apiVersion && type.custom !== undefined) {
    const what = `the API version in the data (${version}) does not match the expected API version (${apiVersion})`;
    return badRequest(what);
  }
  if (type.custom !== undefined) {
    const name = isObject(value.metadata) && typeof value.metadata.name === 'string' ? value.metadata.name : '';
    const message = `Invalid value: ${JSON.stringify(kind)}: must be ${type.kind}`;
    return invalid({ ...type, kind }, name, [{ reason: 'FieldValueInvalid', message, field: 'kind' }]);
  }
  const group = type.group === '' ? 'core' : (type.group.split('.')[0] ?? '');
  const why =
    version === apiVersion
      ? `converting (${type.version}.${kind}) to (${group}.${type.kind}): unknown conversion`
      : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`;
  return badRequest(`${kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
}
