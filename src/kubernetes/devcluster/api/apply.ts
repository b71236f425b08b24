// Performs a server-side apply: a PATCH with an applied configuration (Kubernetes documentation, "Server-Side Apply").

import { isObject, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { type Conflict, serverSideApply } from '../../rules/ownership/write/apply.ts';
import { refusedNulls } from '../custom/nulls.ts';
import type { ReadObject } from '../resources/behaviour.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { type ReadBody, readApplied } from './body/body.ts';
import { commitChange, commitNew, resetOf, type Write } from './commit.ts';
import { type ApiContext, timestamp } from './context.ts';
import { findIfPresent } from './find.ts';
import { checkPreconditions, inNamespace, withRequestName } from './metadata.ts';
import { checkNamespaceTakes } from './namespaces.ts';
import type { ApiRequest, ObjectAnswer, WriteOptions } from './request.ts';
import { apiError, badRequest, conflict, invalid, notFound } from './status.ts';
import { readApplyOptions } from './write-options.ts';

export function applyObject(context: ApiContext, request: ApiRequest): ObjectAnswer {
  const { type, subresource } = request;
  const behaviour = context.types.behaviourOf(type);
  const options = readApplyOptions(request);
  const body = readApplied(request);
  const applied = readAppliedObject(request, body);
  const old = findIfPresent(context, request);
  // An apply to a subresource creates a missing object of a built-in kind. For a custom kind, the server returns 404.
  if (old === undefined && subresource !== undefined && type.custom !== undefined)
    throw notFound(type, request.name ?? '');
  const merged = merge(context, request, options, applied, old);
  const read = behaviour.read(merged);
  if ('mismatch' in read) throw unconvertible(type, applied.metadata.name, read.mismatch);
  const { object } = read;
  checkNulls(type, applied, object);
  const warnings = checkDuplicates(type, options, body);
  const { manager, dryRun } = options;
  const through = subresource === undefined ? {} : { subresource };
  const stored = storedAnyway(type, applied, read);
  const write: Write = { type, behaviour, manager, dryRun, tracked: true, ...through, ...stored };
  if (old !== undefined) {
    checkPreconditions(type, object, old, { unconditional: true, otherUid: 'invalid' });
    return { shape: 'object', code: 200, object: commitChange(context, write, object, old), warnings };
  }
  checkAbsent(type, object);
  checkNamespaceTakes(context, type, object);
  return { shape: 'object', code: 201, object: commitNew(context, write, object), warnings };
}

function readAppliedObject(request: ApiRequest, { value }: ReadBody): KubeObject {
  const { type } = request;
  const { apiVersion, kind, metadata } = value;
  if (apiVersion !== apiVersionOf(type) || kind !== type.kind) {
    throw badRequest(`invalid object type: ${slashed(String(apiVersion ?? ''))}, Kind=${String(kind ?? '')}`);
  }
  if (metadata !== undefined && !isObject(metadata)) throw badRequest('metadata is not an object');
  if (metadata?.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const object = { ...value, apiVersion, kind, metadata: metadata ?? {} } as KubeObject;
  if ((object.metadata.name ?? '') === '') {
    const known = `the name of the object (${request.name ?? ''} based on URL) was undeterminable`;
    throw badRequest(`${known}: name must be provided`);
  }
  const named = withRequestName(type.namespaced ? object : withoutNamespace(object), request);
  inNamespace(named, type, request.namespace);
  return named;
}

function withoutNamespace(object: KubeObject): KubeObject {
  const { namespace: _namespace, ...metadata } = object.metadata;
  return { ...object, metadata };
}

type ApplyOptions = ReturnType<typeof readApplyOptions>;

function merge(
  context: ApiContext,
  request: ApiRequest,
  options: ApplyOptions,
  applied: KubeObject,
  old: KubeObject | undefined,
): JsonObject {
  const { type, subresource } = request;
  const behaviour = context.types.behaviourOf(type);
  const result = serverSideApply({
    type: behaviour.mergeType,
    ...resetOf(behaviour),
    manager: options.manager,
    apiVersion: apiVersionOf(type),
    time: timestamp(context),
    applied,
    force: options.force,
    live: old,
    subresource,
  });
  if ('conflicts' in result) throw applyConflict(result.conflicts);
  if ('invalid' in result) throw untypable(type, applied.metadata.name, result.invalid);
  return inNamespace(result.object, type, request.namespace);
}

function checkNulls(type: ResourceType, applied: KubeObject, stored: KubeObject): void {
  const causes = type.custom === undefined ? [] : refusedNulls(type.custom.schema, applied, stored);
  if (causes.length > 0) throw invalid(type, applied.metadata.name, causes);
}

function storedAnyway(type: ResourceType, applied: KubeObject, { unknown }: ReadObject): Pick<Write, 'stored'> {
  if (type.custom === undefined) return {};
  if (unknown.length > 0) return { stored: 'as-new-generation' };
  const { labels = { kept: '' }, annotations = { kept: '' } } = applied.metadata;
  const isEmpty = Object.keys(labels).length === 0 || Object.keys(annotations).length === 0;
  return isEmpty ? { stored: 'always' } : {};
}

/**
 * Returns warnings about repeated keys, or throws a 400 with `Strict`. The merge has already reported unknown fields.
 */
function checkDuplicates(type: ResourceType, options: WriteOptions, { duplicates }: ReadBody): readonly string[] {
  if (options.fieldValidation !== 'Strict' || duplicates.length === 0) {
    return options.fieldValidation === 'Warn' ? duplicates : [];
  }
  const what = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
  throw badRequest(`${what}: strict decoding error: ${duplicates.join(', ')}`);
}

/** Returns the error for an object that does not fit the schema. As in an API server, the error has no reason. */
function untypable(type: ResourceType, name: string, why: readonly string[]): Error {
  return apiError(500, '', `failed to create typed patch object (${typedName(type, name)}): ${why.join('\n')}`);
}

/** Returns the error for a merged object that fits the schema but not the server's types. */
function unconvertible(type: ResourceType, name: string, why: string): Error {
  const kind = `${slashed(apiVersionOf(type))}, Kind=${type.kind}`;
  const what = `failed to convert new object (${typedName(type, name)}) to proper version`;
  return apiError(500, '', `${what}: unable to convert unstructured object to ${kind}: ${why}`);
}

/** Returns a text such as `/one; apps/v1, Kind=Deployment`. */
function typedName(type: ResourceType, name: string): string {
  return `/${name}; ${slashed(apiVersionOf(type))}, Kind=${type.kind}`;
}

/** Returns the apiVersion. A version of the core group gets a leading slash. */
function slashed(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
}

function applyConflict(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.map((found) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeManager(found)}`,
    field: found.path,
  }));
  const count = `${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}`;
  return apiError(409, 'Conflict', `Apply failed with ${count}: ${summarize(conflicts)}`, { causes });
}

function summarize(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only !== undefined) return `conflict with ${describeManager(only)}: ${only.path}`;
  const byManager = new Map<string, string[]>();
  for (const found of conflicts) {
    const manager = describeManager(found);
    byManager.set(manager, [...(byManager.get(manager) ?? []), found.path]);
  }
  const groups = [...byManager].map(([manager, paths]) => `conflicts with ${manager}:\n${formatPaths(paths)}`);
  return groups.join('\n');
}

function formatPaths(paths: readonly string[]): string {
  return paths.map((path) => `- ${path}`).join('\n');
}

/** Returns a text such as `"kubectl" with subresource "scale" using apps/v1`. Only an Update has the apiVersion. */
function describeManager({ manager, operation, apiVersion, subresource }: Conflict): string {
  const through =
    subresource === undefined || subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${through}${using}`;
}

/** Throws 409 if the apply has a uid, because no object with this uid exists. */
function checkAbsent(type: ResourceType, object: KubeObject): void {
  const { uid, name } = object.metadata;
  if (uid === undefined || uid === '') return;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(type, name, why);
}
