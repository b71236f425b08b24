// Checks that the merge settings of lists and maps fit their schema. Source: CustomResourceDefinitions,
// x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type.

import { isObject, type JsonObject } from '#std/json.ts';
import { forbid, type Report } from '../report.ts';

export function checkMapType(out: Report, schema: JsonObject, pointer: string): void {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return;
  const at = `${pointer}/x-kubernetes-map-type`;
  if (mapType !== 'atomic' && mapType !== 'granular') forbid(out, at, 'must be atomic or granular.');
  if (schema.type !== 'object') forbid(out, at, 'may be set on objects only.');
}

export function checkListType(out: Report, schema: JsonObject, pointer: string): void {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'];
  const at = `${pointer}/x-kubernetes-list-type`;
  if (Array.isArray(keys) && keys.length > 0 && listType !== 'map') {
    forbid(out, at, 'must be map if x-kubernetes-list-map-keys is set.');
  }
  if (listType === undefined) return;
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    forbid(out, at, 'must be atomic, set or map.');
    return;
  }
  if (schema.type !== 'array') forbid(out, at, 'may be set on lists only.');
  if (!isObject(schema.items)) return;
  if (listType !== 'atomic' && schema.items.nullable === true) {
    forbid(out, `${pointer}/items/nullable`, `must not be true in a list of type ${listType}.`);
  }
  if (listType === 'set') checkSetItems(out, schema.items, `${pointer}/items`);
  if (listType === 'map') checkKeys(out, schema, schema.items, pointer);
}

/** Checks the items of a set. Items are compared as a whole, so they must be atomic. */
function checkSetItems(out: Report, items: JsonObject, pointer: string): void {
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    forbid(out, `${pointer}/x-kubernetes-list-type`, 'must be atomic for entries of a set.');
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    forbid(out, `${pointer}/x-kubernetes-map-type`, 'must be atomic for entries of a set.');
  }
}

function checkKeys(out: Report, schema: JsonObject, items: JsonObject, pointer: string): void {
  const at = `${pointer}/x-kubernetes-list-map-keys`;
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys']) ? schema['x-kubernetes-list-map-keys'] : [];
  if (keys.length === 0) forbid(out, at, 'must name at least one key of a list of type map.');
  if (new Set(keys).size < keys.length) forbid(out, at, 'must not name a key twice.');
  if (items.type !== 'object') {
    forbid(out, `${pointer}/items/type`, 'must be object in a list of type map.');
    return;
  }
  const properties = isObject(items.properties) ? items.properties : {};
  const required = Array.isArray(items.required) ? items.required : [];
  for (const key of keys) {
    const field = typeof key === 'string' ? properties[key] : undefined;
    if (!isObject(field)) {
      forbid(out, at, 'must name fields of the entries.');
      continue;
    }
    const where = `${pointer}/items/properties/${String(key)}`;
    if (field.type === 'array' || field.type === 'object')
      forbid(out, `${where}/type`, 'must be a scalar, because it is a key.');
    if (field.nullable === true) forbid(out, `${where}/nullable`, 'must not be true, because it is a key.');
    if (!required.includes(key) && field.default === undefined) {
      forbid(out, `${where}/default`, 'must be set, or the field required, because it is a key.');
    }
  }
}
