// Creates the errors of a Kubernetes API: metav1.Status objects with code, reason, details and causes. The errors are
// thrown as Failures. Messages and reasons are copied from a real API server.

import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';

/** The properties of a resource type that error messages contain. */
export interface ResourceTypeName {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** An entry of `details.causes`: the fault of a field. */
export interface Cause {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueNotFound'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'FieldManagerConflict';
  readonly message: string;
  /** Path of the field, such as `spec.ports[0].port`. */
  readonly field: string;
}

const FAILURE_CODE = 'api-status';

/** Returns the Status of a Failure. undefined for errors without a Status. */
export function statusOf(error: unknown): JsonObject | undefined {
  if (!(error instanceof Failure) || error.code !== FAILURE_CODE) return undefined;
  return isObject(error.data) ? error.data : undefined;
}

/** Creates a Failure with the HTTP status `code` and a Status body. */
export function apiError(
  code: number,
  reason: string,
  message: string,
  details?: JsonObject,
  metadata: JsonObject = {},
): Failure {
  const why = reason === '' ? {} : { reason };
  const known = details === undefined ? {} : { details };
  const data = { kind: 'Status', apiVersion: 'v1', metadata, status: 'Failure', message, ...why, ...known, code };
  return new Failure(FAILURE_CODE, message, { data });
}

/** Returns a name such as `deployments.apps` or `pods`. */
export function qualified(type: ResourceTypeName): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

function detailsOf(type: ResourceTypeName, name: string, kind: string): JsonObject {
  const group = type.group === '' ? {} : { group: type.group };
  return { ...(name === '' ? {} : { name }), ...group, ...(kind === '' ? {} : { kind }) };
}

export function notFound(type: ResourceTypeName, name: string): Failure {
  const message = `${qualified(type)} "${name}" not found`;
  return apiError(404, 'NotFound', message, detailsOf(type, name, type.plural));
}

export function alreadyExists(type: ResourceTypeName, name: string, isGoing = false): Failure {
  const message = `${isGoing ? 'object is being deleted: ' : ''}${qualified(type)} "${name}" already exists`;
  return apiError(409, 'AlreadyExists', message, detailsOf(type, name, type.plural));
}

export function conflict(type: ResourceTypeName, name: string, why: string): Failure {
  const message = `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`;
  return apiError(409, 'Conflict', message, detailsOf(type, name, type.plural));
}

/** Creates the conflict of a write with an outdated resourceVersion. */
export function modified(type: ResourceTypeName, name: string): Failure {
  return conflict(
    type,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

export function forbidden(type: ResourceTypeName, name: string, why: string, cause?: Cause | JsonObject): Failure {
  const what = name === '' ? qualified(type) : `${qualified(type)} "${name}"`;
  const causes = cause === undefined ? {} : { causes: [{ ...cause }] };
  const details = { ...detailsOf(type, name, type.plural), ...causes };
  return apiError(403, 'Forbidden', `${what} is forbidden: ${why}`, details);
}

/** Creates a 422. Its message contains each cause once. */
export function invalid(type: ResourceTypeName, name: string, causes: readonly Cause[]): Failure {
  const kind = type.group === '' ? type.kind : `${type.kind}.${type.group}`;
  const lines = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const summary = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const details = {
    ...detailsOf(type, name, type.kind),
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  };
  return apiError(422, 'Invalid', `${kind} "${name}" is invalid: ${summary}`, details);
}

export function badRequest(message: string): Failure {
  return apiError(400, 'BadRequest', message);
}

/** Creates a 410 for a continue token or watch whose revision is no longer stored. */
export function expired(message: string): Failure {
  return apiError(410, 'Expired', message);
}

export function unauthorized(): Failure {
  return apiError(401, 'Unauthorized', 'Unauthorized');
}

export function methodNotAllowed(): Failure {
  const message = 'the server does not allow this method on the requested resource';
  return apiError(405, 'MethodNotAllowed', message, {});
}

export function unsupportedMediaType(accepted: readonly string[]): Failure {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return apiError(415, 'UnsupportedMediaType', message);
}

export function notAcceptable(available: readonly string[]): Failure {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return apiError(406, 'NotAcceptable', message, {});
}

/**
 * Creates the error for a PATCH with an unknown media type. Errors for other writes list the accepted types instead.
 */
export function unsupportedPatch(): Failure {
  return apiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

export function requestTooLarge(limitBytes: number): Failure {
  return apiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`, {});
}
