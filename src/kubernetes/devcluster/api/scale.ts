// Serves the scale subresource: represents the replicas of a workload as a Scale object of autoscaling/v1.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType, ScalePaths } from '../resources/resource-type.ts';
import { mediaType, readObject, readPatch } from './body/body.ts';
import { jsonPatch } from './body/json-patch.ts';
import { mergePatch } from './body/merge-patch.ts';
import { commitChange } from './commit.ts';
import type { ApiContext } from './context.ts';
import { findObject } from './find.ts';
import { checkPreconditions } from './metadata.ts';
import { readKnown } from './read-object.ts';
import type { ApiRequest, ObjectAnswer } from './request.ts';
import { badRequest, invalid, unsupportedPatch } from './status.ts';
import { readWriteOptions } from './write-options.ts';

export function readScale(context: ApiContext, request: ApiRequest, paths: ScalePaths): ObjectAnswer {
  return { shape: 'object', code: 200, object: scaleOf(paths, findObject(context, request)) };
}

export function writeScale(context: ApiContext, request: ApiRequest, paths: ScalePaths): ObjectAnswer {
  const { type } = request;
  const behaviour = context.types.behaviourOf(type);
  const options = readWriteOptions(request, request.verb === 'update' ? 'UpdateOptions' : 'PatchOptions');
  const old = findObject(context, request);
  const scale = proposedScale(request, scaleOf(paths, old));
  const replicas = readReplicas(type, old, scale);
  checkPreconditions(type, { ...old, metadata: metadataOf(scale, old) }, old, {
    unconditional: true,
    otherUid: 'conflict',
  });
  const scaled = setAt(old, pathTokens(paths.specReplicas), replicas);
  const next = readKnown(behaviour, scaled);
  const { manager, dryRun } = options;
  const changed = commitChange(context, { type, behaviour, manager, dryRun, subresource: 'scale' }, next, old);
  return { shape: 'object', code: 200, object: scaleOf(paths, changed) };
}

function proposedScale(request: ApiRequest, current: JsonObject): JsonObject {
  if (request.verb === 'update') return readObject(request, 'Scale').value;
  const patch = readPatch(request);
  const proposed = patchScale(mediaType(request.contentType), current, patch);
  if (!isObject(proposed)) throw badRequest('the patched value is not an object');
  return proposed;
}

const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

function patchScale(format: string, current: JsonObject, patch: Json): Json {
  if (!PATCHES.includes(format)) throw unsupportedPatch();
  if (format !== 'application/json-patch+json') return mergePatch(current, patch);
  const outcome = Array.isArray(patch) ? jsonPatch(current, patch) : { refused: 'not a list of operations' };
  if ('refused' in outcome) throw badRequest(outcome.refused);
  return outcome.value;
}

/** Returns the metadata for the precondition check: uid and resourceVersion of the sent Scale. */
function metadataOf(scale: JsonObject, old: KubeObject): KubeObject['metadata'] {
  const given = isObject(scale.metadata) ? scale.metadata : {};
  const { uid, resourceVersion } = given;
  return {
    name: old.metadata.name,
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
  };
}

function readReplicas(type: ResourceType, old: KubeObject, scale: JsonObject): number {
  const replicas = (isObject(scale.spec) ? scale.spec.replicas : undefined) ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest('Scale in version "v1" cannot be handled as a Scale: spec.replicas is not an integer');
  }
  if (replicas >= 0) return replicas;
  const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
  throw invalid({ group: 'autoscaling', plural: type.plural, kind: 'Scale' }, old.metadata.name, [
    { reason: 'FieldValueInvalid', message, field: 'spec.replicas' },
  ]);
}

function scaleOf(paths: ScalePaths, object: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const value = object;
  const replicas = numberAt(value, paths.specReplicas);
  const selector = selectorOf(paths, value);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(value, paths.statusReplicas), ...(selector === '' ? {} : { selector }) },
  };
}

/** Returns the selector as a text for query parameters. Objects of custom kinds store their selector as a text. */
function selectorOf(paths: ScalePaths, object: JsonObject): string {
  if (paths.labelSelector !== undefined) {
    const text = valueAt(object, pathTokens(paths.labelSelector));
    return typeof text === 'string' ? text : '';
  }
  const selector = valueAt(object, ['spec', 'selector']);
  const labels = isObject(selector) && isObject(selector.matchLabels) ? selector.matchLabels : {};
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort()
    .join(',');
}

/** Splits a path: `.spec.replicas` becomes `spec`, `replicas`. */
function pathTokens(path: string): string[] {
  return path.split('.').slice(1);
}

function numberAt(object: JsonObject, path: string): number {
  const value = valueAt(object, pathTokens(path));
  return typeof value === 'number' ? value : 0;
}

function valueAt(object: JsonObject, tokens: readonly string[]): Json | undefined {
  return tokens.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), object);
}

function setAt(object: JsonObject, [first, ...rest]: readonly string[], value: Json): JsonObject {
  if (first === undefined) return object;
  const child = object[first];
  const below = rest.length === 0 ? value : setAt(isObject(child) ? child : {}, rest, value);
  return { ...object, [first]: below };
}
