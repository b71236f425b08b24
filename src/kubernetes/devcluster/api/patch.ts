// Performs a PATCH: JSON patch, JSON merge patch, strategic merge patch or server-side apply.

import { canonicalJson, isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { strategicMerge } from '../../rules/strategic.ts';
import { applyObject } from './apply.ts';
import { mediaType, readPatch } from './body/body.ts';
import { jsonPatch } from './body/json-patch.ts';
import { mergePatch } from './body/merge-patch.ts';
import { commitChange } from './commit.ts';
import type { ApiContext } from './context.ts';
import { findObject } from './find.ts';
import { checkPreconditions, inNamespace, withRequestName } from './metadata.ts';
import { admitBody } from './read-object.ts';
import type { ApiRequest, ObjectAnswer } from './request.ts';
import { apiError, badRequest, invalid, unsupportedMediaType, unsupportedPatch } from './status.ts';
import { readPatchOptions } from './write-options.ts';

const APPLY = 'application/apply-patch+yaml';
const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

export function patchObject(context: ApiContext, request: ApiRequest): ObjectAnswer {
  const format = mediaType(request.contentType);
  if (![APPLY, JSON_PATCH, MERGE, STRATEGIC].includes(format)) throw unsupportedPatch();
  if (format === STRATEGIC && request.type.custom !== undefined) throw unsupportedMediaType([JSON_PATCH, MERGE, APPLY]);
  if (format === APPLY) return applyObject(context, request);
  const { type, subresource } = request;
  const behaviour = context.types.behaviourOf(type);
  const options = readPatchOptions(request);
  const old = findObject(context, request);
  const patched = patchedValue(context, request, format, old);
  const { object, warnings } = admitBody(type, behaviour, { value: patched, duplicates: [] }, options, (why) =>
    unreadablePatch(patched, why),
  );
  const next = withRequestName(inNamespace(object, type, request.namespace), request);
  checkPreconditions(type, next, old, { unconditional: true, otherUid: 'invalid' });
  const { manager, dryRun } = options;
  const write = { type, behaviour, manager, dryRun, subresource };
  return { shape: 'object', code: 200, object: commitChange(context, write, next, old), warnings };
}

/** Returns the old object with the patch applied, not yet decoded as its kind. */
function patchedValue(context: ApiContext, request: ApiRequest, format: string, old: KubeObject): JsonObject {
  const patch = readPatch(request);
  const target = old;
  const patched =
    format === JSON_PATCH ? applyJsonPatch(target, patch) : mergeInto(context, request, format, target, patch);
  if (!isObject(patched)) throw badRequest('the patched value is not an object');
  return patched;
}

/**
 * Returns the error for a patched object that cannot be decoded. As in an API server, the message contains the patched
 * JSON instead of the object's name.
 */
function unreadablePatch(patched: JsonObject, why: string): Error {
  const message = `Invalid value: ${JSON.stringify(canonicalJson(patched))}: ${why}`;
  return invalid({ group: '', plural: '', kind: '' }, '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
}

function applyJsonPatch(target: JsonObject, patch: Json): Json {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
  const outcome = jsonPatch(target, patch);
  if (!('refused' in outcome)) return outcome.value;
  throw apiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

function mergeInto(context: ApiContext, request: ApiRequest, format: string, target: JsonObject, patch: Json): Json {
  if (!isObject(patch)) throw badRequest('error decoding patch: a merge patch is an object');
  if (format === MERGE) return mergePatch(target, patch);
  const { value, findings } = strategicMerge(target, patch, context.types.behaviourOf(request.type).patchType);
  const [problem] = findings;
  if (problem !== undefined) throw badRequest(`error in the patch at ${problem.pointer}: ${problem.message}`);
  return value;
}
