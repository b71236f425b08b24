// Strategic merge patch, the JSON merge patch that knows lists of named items (Kubernetes documentation, "Update API
// Objects in Place Using kubectl patch"). The strategies are those of the kind's published schema.

import type { OpenApiDocument, OpenApiSchema } from '../../kube/openapi.ts';
import { isObject, type Json, type JsonObject, jsonEquals } from '../../std/json.ts';
import { badRequest } from './status.ts';

/** The published schema of a built-in kind. */
export interface NamedSchema {
  readonly document: OpenApiDocument;
  readonly name: string;
}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ORDER_PREFIX = '$setElementOrder/';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';

/** The target with the patch merged in; neither is modified. */
export function strategicMergePatch(schema: NamedSchema, target: JsonObject, patch: JsonObject): JsonObject {
  const { schemas } = schema.document.components;
  return mergeObject({ schemas, schema: schemas[schema.name] }, target, patch) ?? {};
}

/** Where a merge is: the schema may be unknown, then objects merge and lists are replaced. */
interface Place {
  readonly schemas: Readonly<Record<string, OpenApiSchema>>;
  readonly schema: OpenApiSchema | undefined;
}

/** Undefined where the patch deletes the object. */
function mergeObject(place: Place, target: JsonObject | undefined, patch: JsonObject): JsonObject | undefined {
  switch (patch[DIRECTIVE]) {
    case undefined:
    case 'merge':
      break;
    case 'replace':
      return withoutDirectives(patch);
    case 'delete':
      return undefined;
    default:
      throw badRequest(`unknown patch directive ${JSON.stringify(patch[DIRECTIVE])}`);
  }
  const merged = retained(target ?? {}, patch[RETAIN_KEYS]);
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || isDirective(key)) continue;
    const result = mergeField(property(place, key), merged[key], value, directivesFor(patch, key));
    if (result === undefined) delete merged[key];
    else merged[key] = result;
  }
  for (const key of listsWithDirectivesOnly(patch)) {
    const result = mergeField(property(place, key), merged[key], [], directivesFor(patch, key));
    if (result !== undefined) merged[key] = result;
  }
  return merged;
}

function isDirective(key: string): boolean {
  return key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(ORDER_PREFIX) || key.startsWith(DELETE_PREFIX);
}

function withoutDirectives(patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !isDirective(key)));
}

function retained(target: JsonObject, keys: Json | undefined): JsonObject {
  if (!Array.isArray(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

interface ListDirectives {
  readonly order: readonly Json[] | undefined;
  readonly remove: readonly Json[];
}

function directivesFor(patch: JsonObject, key: string): ListDirectives {
  const order = patch[`${ORDER_PREFIX}${key}`];
  const remove = patch[`${DELETE_PREFIX}${key}`];
  return { order: Array.isArray(order) ? order : undefined, remove: Array.isArray(remove) ? remove : [] };
}

/** Lists that a patch only reorders or removes from. */
function listsWithDirectivesOnly(patch: JsonObject): string[] {
  const keys = Object.keys(patch).flatMap((key) => {
    const prefix = [ORDER_PREFIX, DELETE_PREFIX].find((candidate) => key.startsWith(candidate));
    return prefix === undefined ? [] : [key.slice(prefix.length)];
  });
  return [...new Set(keys)].filter((key) => patch[key] === undefined);
}

function mergeField(place: Place, target: Json | undefined, patch: Json, directives: ListDirectives): Json | undefined {
  if (patch === null) return undefined;
  if (isObject(patch)) return mergeObject(place, isObject(target) ? target : undefined, patch);
  if (!Array.isArray(patch)) return patch;
  if (!isMerged(place.schema)) return patch;
  const list = Array.isArray(target) ? target : [];
  const key = place.schema?.['x-kubernetes-patch-merge-key'];
  if (key === undefined) return mergeScalars(list, patch, directives);
  return mergeItems(place, key, list, patch, directives);
}

function isMerged(schema: OpenApiSchema | undefined): boolean {
  return (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',').includes('merge');
}

function mergeScalars(list: readonly Json[], patch: readonly Json[], { order, remove }: ListDirectives): Json[] {
  const kept = list.filter((item) => !remove.some((gone) => jsonEquals(gone, item)));
  const added = patch.filter((item) => !kept.some((present) => jsonEquals(present, item)));
  return ordered([...kept, ...added], order, (item) => item);
}

function mergeItems(
  place: Place,
  key: string,
  list: readonly Json[],
  patch: readonly Json[],
  directives: ListDirectives,
): Json[] {
  const itemPlace = itemsOf(place);
  let merged = [...list];
  if (patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace' && item[key] === undefined)) {
    return patch.filter((item) => !isObject(item) || item[DIRECTIVE] === undefined);
  }
  for (const item of patch) {
    if (!isObject(item)) throw badRequest(`an item of a list merged by ${key} is no object`);
    const name = item[key];
    if (name === undefined) throw badRequest(`an item of a list merged by ${key} lacks this key`);
    const index = merged.findIndex((present) => isObject(present) && jsonEquals(present[key], name));
    const present = merged[index];
    const result = mergeObject(itemPlace, isObject(present) ? present : undefined, item);
    if (result === undefined) merged = merged.filter((other) => !isObject(other) || !jsonEquals(other[key], name));
    else if (index < 0) merged.push(result);
    else merged[index] = result;
  }
  return ordered(merged, directives.order, (item) => (isObject(item) ? item[key] : item), key);
}

/**
 * Items that the order names come in its order; the others stay behind the item that they were behind.
 */
function ordered(
  items: readonly Json[],
  order: readonly Json[] | undefined,
  nameOf: (item: Json) => Json | undefined,
  key?: string,
): Json[] {
  if (order === undefined) return [...items];
  const names = order.map((item) => (key !== undefined && isObject(item) ? item[key] : item));
  const rank = (item: Json) => names.findIndex((name) => jsonEquals(name, nameOf(item)));
  const named = items.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const result = [...named];
  items.forEach((item, index) => {
    if (rank(item) >= 0) return;
    const before = items[index - 1];
    const place = before === undefined ? 0 : result.indexOf(before) + 1;
    result.splice(place, 0, item);
  });
  return result;
}

function property(place: Place, key: string): Place {
  const schema = resolved(place);
  const found = schema?.properties?.[key];
  if (found !== undefined) return { schemas: place.schemas, schema: found };
  const other = schema?.additionalProperties;
  return { schemas: place.schemas, schema: isObject(other) ? (other as OpenApiSchema) : undefined };
}

function itemsOf(place: Place): Place {
  return { schemas: place.schemas, schema: resolved(place)?.items };
}

function resolved({ schemas, schema }: Place): OpenApiSchema | undefined {
  const target = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return typeof target === 'string' ? schemas[target.slice(target.lastIndexOf('/') + 1)] : schema;
}
