// Renders the result of an operation as an object, list, table or partial metadata.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ApiAnswer, ApiRequest, ListAnswer } from '../api/request.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { tableOf } from '../table/table.ts';
import type { Form, Representation } from './accept.ts';
import { type ApiResponse, jsonAnswer, warningHeaders, yamlAnswer } from './respond.ts';

/** Returns the forms that are available for the response to this request. */
export function formsOf(request: ApiRequest): readonly Form[] {
  if (request.verb === 'list' || request.verb === 'deletecollection') return ['object', 'table', 'partial-list'];
  return ['object', 'table', 'partial-object'];
}

export function render(
  request: ApiRequest,
  answer: ApiAnswer,
  representation: Representation,
  now: number,
): ApiResponse {
  const write = representation.format === 'yaml' ? yamlAnswer : jsonAnswer;
  const deprecation = request.type.custom?.deprecation;
  const general = deprecation === undefined ? [] : [deprecation];
  if (answer.shape === 'list') {
    return write(200, renderList(request, answer, representation.form, now), warningHeaders(general));
  }
  const headers = warningHeaders([...general, ...(answer.warnings ?? [])]);
  return write(
    answer.code,
    renderObject(request.type, answer.object as KubeObject, representation.form, now, request),
    headers,
  );
}

/** Renders an object. A Status is never rendered as a table or partial metadata. */
export function renderObject(
  type: ResourceType,
  object: KubeObject,
  form: Form,
  now: number,
  request: Pick<ApiRequest, 'query'>,
): KubeObject | JsonObject {
  if (object.kind === 'Status') return object;
  switch (form) {
    case 'table':
      return tableOf(type, [object], { metadata: revisionOf(object), now, include: includeOf(request) });
    case 'partial-object':
      return partial(object);
    default:
      return object;
  }
}

/** Returns the object's resourceVersion. Empty if the object was not stored. */
function revisionOf({ metadata }: KubeObject): JsonObject {
  return metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
}

function renderList(request: ApiRequest, answer: ListAnswer, form: Form, now: number): JsonObject {
  const { type } = request;
  const metadata: JsonObject = {
    resourceVersion: answer.resourceVersion,
    // Left out if undefined, because it would override the empty `continue` of lists of custom kinds.
    ...(answer.continue === undefined ? {} : { continue: answer.continue }),
    remainingItemCount: answer.remainingItemCount,
  };
  if (form === 'table') return tableOf(type, answer.items, { metadata, now, include: includeOf(request) });
  if (form === 'partial-list') {
    const items = answer.items.map(partial);
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items };
  }
  if (type.custom === undefined) {
    return { kind: type.listKind, apiVersion: apiVersionOf(type), metadata, items: answer.items.map(withoutKind) };
  }
  // Lists of custom kinds always contain `continue`.
  const items = [...answer.items];
  return { kind: type.listKind, apiVersion: apiVersionOf(type), metadata: { continue: '', ...metadata }, items };
}

/** Removes apiVersion and kind, which items of built-in lists do not have. */
function withoutKind({ apiVersion: _version, kind: _kind, ...object }: KubeObject): JsonObject {
  return object as JsonObject;
}

function partial(object: KubeObject): JsonObject {
  const metadata = object.metadata;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

function includeOf({ query }: Pick<ApiRequest, 'query'>): string {
  return query.get('includeObject') ?? 'Metadata';
}
