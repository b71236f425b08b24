// Decodes the metadata of custom kinds, as for built-in kinds.

import { isObject, type Json } from '#std/json.ts';
import { bundledSchema } from '../../rules/schemas/bundled.ts';
import { type Decoded, decodeStruct, type Mismatch } from '../builtin/struct.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Reads metadata. `path` is its place, for the names of unknown fields. */
export function readMetadata(value: Json | undefined, path: string): Decoded | Mismatch {
  const document = bundledSchema('v1');
  if (document === undefined || !isObject(value)) return { value: {}, unknown: [] };
  const decoded = decodeStruct(document, OBJECT_META, value);
  if ('mismatch' in decoded) return decoded;
  return { value: decoded.value, unknown: decoded.unknown.map((field) => `${path}.${field}`) };
}
