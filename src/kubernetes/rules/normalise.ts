// Rewrites a desired object to the form that the API server stores.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from './object.ts';
import { keyType, type MergeType } from './openapi.ts';
import { storedQuantity } from './quantity.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const DATA_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

/**
 * Removes nulls, status, and empty labels, annotations and data maps. Merges `stringData` into `data`, removes line
 * breaks from base64, and writes quantities in stored form. If `type` is undefined, steps that depend on the schema are
 * left out. The argument is not changed. The result shares its unchanged parts.
 */
export function normalise(object: KubeObject, type: MergeType | undefined): KubeObject {
  const { status: _, ...rest } = object;
  const normal = normaliseMap(rest as JsonObject, type);
  if (isObject(normal.metadata)) normal.metadata = withoutEmpty(normal.metadata, ['labels', 'annotations']);
  return (isDataKind(object) ? normaliseData(normal) : normal) as KubeObject;
}

function isDataKind({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && DATA_KINDS.has(kind);
}

function normaliseData(object: JsonObject): JsonObject {
  const merged = object.kind === 'Secret' ? withStringData(object) : object;
  return withoutEmpty(merged, ['data', 'binaryData']);
}

/** Encodes `stringData` and writes it over `data`, as the server does. */
export function withStringData(secret: JsonObject): JsonObject {
  const { stringData, ...rest } = secret;
  const data = rest.data ?? {};
  if (!isObject(stringData) || !isObject(data)) return secret;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    typeof value === 'string' ? Buffer.from(value, 'utf8').toString('base64') : value,
  ]);
  return encoded.length === 0 ? rest : { ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
}

function normaliseValue(value: Json, type: MergeType | undefined): Json {
  if (isObject(value)) return normaliseMap(value, type);
  if (Array.isArray(value)) return normaliseList(value, type?.list?.item());
  return normaliseScalar(value, type);
}

/** Copies the list at the first change only, because most lists need no change. */
function normaliseList(list: Json[], type: MergeType | undefined): Json[] {
  let out = list;
  for (const [index, item] of list.entries()) {
    const normal = normaliseValue(item, type);
    if (normal === item) continue;
    if (out === list) out = [...list];
    out[index] = normal;
  }
  return out;
}

function normaliseMap(map: JsonObject, type: MergeType | undefined): JsonObject {
  let out = map;
  for (const key of Object.keys(map)) {
    const value = map[key];
    const normal = normaliseField(value, key, type);
    if (normal === value && value !== undefined) continue;
    if (out === map) out = { ...map };
    if (normal === undefined) delete out[key];
    else out[key] = normal;
  }
  return type?.name === OBJECT_META ? withoutEmpty(out, ['labels', 'annotations']) : out;
}

/** Returns undefined if the field is removed. */
function normaliseField(value: Json | undefined, key: string, type: MergeType | undefined): Json | undefined {
  if (value === undefined || value === null) return undefined;
  const below = type?.map === undefined ? undefined : keyType(type.map, key);
  // Raw JSON inside a built-in kind (such as a default in a CRD) is data. The server does not rewrite it.
  const isRaw = type?.storage === 'struct' && below !== undefined && below.storage !== 'struct';
  return isRaw ? value : normaliseValue(value, below);
}

function normaliseScalar(value: Json, type: MergeType | undefined): Json {
  switch (type?.scalar?.spelling) {
    case 'quantity':
      return typeof value === 'string' || typeof value === 'number' ? (storedQuantity(value) ?? value) : value;
    case 'base64':
      return typeof value === 'string' ? withoutLineBreaks(value) : value;
    default:
      return value;
  }
}

/** Removes line breaks from base64, as the server's decoder does. */
export function withoutLineBreaks(base64: string): string {
  return base64.replaceAll(/[\r\n]/g, '');
}

function withoutEmpty(map: JsonObject, keys: readonly string[]): JsonObject {
  const empty = keys.filter((key) => {
    const value = map[key];
    return isObject(value) && Object.keys(value).length === 0;
  });
  if (empty.length === 0) return map;
  const out = { ...map };
  for (const key of empty) delete out[key];
  return out;
}
