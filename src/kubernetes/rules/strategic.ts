// Applies a strategic merge patch: merges a partial object into an object. Lists are merged by the keys in the kind's
// OpenAPI document. Source: the Kubernetes reference, "Strategic merge patch", with the directives `$patch`,
// `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`.

import { isObject, type Json, type JsonObject, jsonEquals, pointerToken } from '#std/json.ts';
import type { Finding } from './finding.ts';
import type { GroupVersionKind, OpenApiDocument, OpenApiSchema } from './openapi.ts';
import type { STRATEGIC_CODES } from './strategic-codes.ts';

/** The schema of a value and the document to which its references belong. */
export interface PatchType {
  readonly document: OpenApiDocument;
  readonly schema: OpenApiSchema;
}

export interface Patched {
  readonly value: JsonObject;
  /** The faults of the patch. The faulty parts of the patch were not applied. */
  readonly findings: readonly Finding[];
}

/** Returns undefined if the document does not have the kind. */
export function patchTypeOf(document: OpenApiDocument, target: GroupVersionKind): PatchType | undefined {
  const { group, version, kind } = target;
  const schema = Object.values(document.components.schemas).find((candidate) =>
    candidate['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
    ),
  );
  return schema === undefined ? undefined : { document, schema };
}

/** Returns the merge rules of a schema by its published name (`io.k8s.api.core.v1.PodTemplateSpec`). */
export function namedPatchType(document: OpenApiDocument, name: string): PatchType | undefined {
  const schema = document.components.schemas[name];
  return schema === undefined ? undefined : { document, schema };
}

/** Merges `patch` into `original`. Changes neither argument. Without a type, maps are merged and lists are replaced. */
export function strategicMerge(original: JsonObject, patch: JsonObject, type: PatchType | undefined): Patched {
  const findings: Finding[] = [];
  return { value: mergeMap(original, patch, { type, pointer: '', findings }), findings };
}

interface PatchPlace {
  readonly type: PatchType | undefined;
  readonly pointer: string;
  readonly findings: Finding[];
}

const DIRECTIVE = '$patch';
const RETAIN = '$retainKeys';
const ORDER = '$setElementOrder/';
const DELETE = '$deleteFromPrimitiveList/';

function mergeMap(original: JsonObject, patch: JsonObject, place: PatchPlace): JsonObject {
  const { [DIRECTIVE]: directive, [RETAIN]: retained, ...rest } = patch;
  if (directive === 'delete') return {};
  if (directive === 'replace') return rest;
  checkDirective(directive, place);
  const result = retain(original, rest, retained, place);
  for (const [key, value] of Object.entries(rest)) {
    if (value === undefined || key.startsWith(ORDER) || key.startsWith(DELETE)) continue;
    if (value === null) delete result[key];
    else result[key] = mergeValue(result[key], value, fieldPlace(place, key));
  }
  return finishLists(result, original, rest, place);
}

function mergeValue(existing: Json | undefined, value: Json, place: PatchPlace): Json {
  const strategy = strategies(place.type?.schema);
  if (isObject(value)) {
    const base = isObject(existing) && !strategy.includes('replace') ? existing : {};
    return mergeMap(base, value, place);
  }
  if (!Array.isArray(value) || !strategy.includes('merge')) return clean(value);
  return mergeList(Array.isArray(existing) ? existing : [], value, place);
}

function mergeList(existing: readonly Json[], patch: readonly Json[], place: PatchPlace): Json[] {
  const key = place.type?.schema['x-kubernetes-patch-merge-key'];
  if (key === undefined) return unique([...existing, ...patch]);
  const replaced = patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace');
  const result: Json[] = replaced ? [] : [...existing];
  for (const [index, item] of patch.entries()) {
    const at = itemPlace(place, index);
    const { [DIRECTIVE]: directive, ...fields } = isObject(item) ? item : {};
    if (directive === 'replace' && Object.keys(fields).length === 0) continue;
    const name = fields[key];
    if (name === undefined) {
      report(at, 'patch-key-missing', `an item lacks its ${key}`);
      continue;
    }
    const found = result.findIndex((other) => isObject(other) && jsonEquals(other[key], name));
    const base = result[found];
    checkDirective(directive, at);
    if (directive === 'delete') result.splice(found, found < 0 ? 0 : 1);
    else if (isObject(base)) result[found] = mergeMap(base, fields, at);
    else result.push(mergeMap({}, fields, at));
  }
  return result;
}

function checkDirective(directive: Json | undefined, place: PatchPlace): void {
  if (directive === undefined || directive === 'merge' || directive === 'replace' || directive === 'delete') return;
  report(place, 'patch-directive-unknown', `$patch is ${JSON.stringify(directive)}`);
}

/** Applies `$retainKeys`: removes the fields that it does not list. The patch must not set such fields. */
function retain(original: JsonObject, patch: JsonObject, retained: Json | undefined, place: PatchPlace): JsonObject {
  if (!Array.isArray(retained)) return { ...original };
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$') && !retained.includes(key))
      report(place, 'patch-retain-keys', `${key} is set but not retained`);
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => retained.includes(key)));
}

/** Applies `$deleteFromPrimitiveList`, and sorts merged lists in the order that the patch requests. */
function finishLists(result: JsonObject, original: JsonObject, patch: JsonObject, place: PatchPlace): JsonObject {
  for (const [directive, values] of Object.entries(patch)) {
    const key = directive.slice(directive.indexOf('/') + 1);
    const list = result[key];
    if (!directive.startsWith(DELETE) || !Array.isArray(values) || !Array.isArray(list)) continue;
    result[key] = list.filter((item) => !values.some((value) => jsonEquals(value, item)));
  }
  for (const [key, list] of Object.entries(result)) {
    const { schema } = fieldPlace(place, key).type ?? {};
    const order = patch[`${ORDER}${key}`] ?? patch[key];
    if (!Array.isArray(list) || !Array.isArray(order) || !strategies(schema).includes('merge')) continue;
    const before = original[key];
    result[key] = ordered(list, Array.isArray(before) ? before : [], order, schema?.['x-kubernetes-patch-merge-key']);
  }
  return result;
}

/**
 * Sorts the list. Items in `order` get that order, other items keep their order. The two groups are merged by the
 * items' previous positions. In this merge, new items come before existing items.
 */
function ordered(
  list: readonly Json[],
  before: readonly Json[],
  order: readonly Json[],
  key: string | undefined,
): Json[] {
  const named = list.filter((item) => rank(order, item, key) >= 0);
  const others = list.filter((item) => rank(order, item, key) < 0);
  named.sort((a, b) => rank(order, a, key) - rank(order, b, key));
  const result: Json[] = [];
  while (named.length + others.length > 0) {
    const [next] = named;
    const [other] = others;
    const stood = next === undefined ? Number.POSITIVE_INFINITY : rank(before, next, key);
    const namedFirst = other === undefined || stood < rank(before, other, key);
    result.push(...(namedFirst ? named : others).splice(0, 1));
  }
  return result;
}

function rank(order: readonly Json[], item: Json, key: string | undefined): number {
  return order.findIndex((other) => jsonEquals(identity(other, key), identity(item, key)));
}

function identity(item: Json, mergeKey: string | undefined): Json | undefined {
  return mergeKey !== undefined && isObject(item) ? item[mergeKey] : item;
}

function unique(items: readonly Json[]): Json[] {
  return items.filter((item, index) => items.findIndex((other) => jsonEquals(other, item)) === index);
}

/** Cleans a value that replaces another: removes items with `$patch`, and removes directives and nulls from maps. */
function clean(value: Json): Json {
  if (Array.isArray(value)) {
    return value.filter((item) => !isObject(item) || item[DIRECTIVE] === undefined).map(clean);
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, child]) => child !== null && child !== undefined && !key.startsWith('$'),
  );
  return Object.fromEntries(kept.map(([key, child]) => [key, clean(child ?? null)]));
}

function strategies(schema: OpenApiSchema | undefined): readonly string[] {
  return schema?.['x-kubernetes-patch-strategy']?.split(',') ?? [];
}

function report(place: PatchPlace, code: keyof typeof STRATEGIC_CODES, message: string): void {
  place.findings.push({ code, severity: 'error', pointer: place.pointer, message });
}

function fieldPlace(place: PatchPlace, key: string): PatchPlace {
  const { properties, additionalProperties } = target(place.type)?.schema ?? {};
  const other = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return placeBelow(place, properties?.[key] ?? other, key);
}

function itemPlace(place: PatchPlace, index: number): PatchPlace {
  return placeBelow(place, target(place.type)?.schema.items, index);
}

function placeBelow(place: PatchPlace, schema: OpenApiSchema | undefined, token: string | number): PatchPlace {
  const { document } = place.type ?? {};
  const type = schema === undefined || document === undefined ? undefined : { document, schema };
  return { ...place, type, pointer: `${place.pointer}/${pointerToken(token)}` };
}

/**
 * Resolves a reference (bare or in `allOf`). The merge rules are properties of the schema that contains the reference.
 */
function target(type: PatchType | undefined): PatchType | undefined {
  if (type === undefined) return undefined;
  const { document, schema } = type;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (typeof reference !== 'string') return type;
  return namedPatchType(document, reference.slice(reference.lastIndexOf('/') + 1));
}
