// From the body of a write to an object of the requested kind: kind and version checked, unknown and doubled fields
// reported as the request wants. Knows nothing about storage.

import type { JsonObject } from '../../std/json.ts';
import type { Behaviour, ReadObject } from '../resources/behaviour.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { ReadBody } from './body.ts';
import type { WriteOptions } from './request.ts';
import { badRequest } from './status.ts';

export interface Admitted {
  readonly object: ReadObject['object'];
  /** For the Warning headers. */
  readonly warnings: readonly string[];
}

/** Throws a 400 for another kind, values of the wrong type and, under `Strict`, unknown and doubled fields. */
export function admitBody(type: ResourceType, behaviour: Behaviour, body: ReadBody, options: WriteOptions): Admitted {
  const { object, unknown } = behaviour.read(withKind(type, body.value));
  const complaints = [...body.duplicates, ...unknown];
  if (options.fieldValidation === 'Strict' && complaints.length > 0) throw strictError(type, complaints);
  return { object, warnings: options.fieldValidation === 'Warn' ? complaints : [] };
}

function strictError(type: ResourceType, complaints: readonly string[]): Error {
  const what = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
  return badRequest(`${what}: strict decoding error: ${complaints.join(', ')}`);
}

/** A body may leave out apiVersion and kind, but not name others. */
export function withKind(type: ResourceType, value: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(type);
  const kindGiven = value.kind ?? '';
  const versionGiven = value.apiVersion ?? '';
  const kind = kindGiven === '' ? type.kind : kindGiven;
  const version = versionGiven === '' ? apiVersion : versionGiven;
  if (kind !== type.kind || version !== apiVersion) {
    const what = `${String(kind)} in version "${String(version)}" cannot be handled as a ${type.kind}`;
    throw badRequest(`${what}: no kind ${JSON.stringify(kind)} is served at this resource of ${apiVersion}`);
  }
  return { ...value, apiVersion, kind };
}
