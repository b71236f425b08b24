// Decodes the metadata of custom kinds with the schema of built-in kinds.

import { isObject, type Json } from '#std/json.ts';
import { bundledSchema } from '../../rules/schemas/bundled.ts';
import { type Decoded, decodeStruct, type Mismatch } from '../builtin/struct.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Decodes metadata. `path` is the prefix of the paths of unknown fields. */
export function readMetadata(value: Json | undefined, path: string): Decoded | Mismatch {
  const document = bundledSchema('v1');
  if (document === undefined || !isObject(value)) return { value: {}, unknown: [] };
  const decoded = decodeStruct(document, OBJECT_META, value);
  if ('mismatch' in decoded) return decoded;
  return { value: decoded.value, unknown: decoded.unknown.map((field) => `${path}.${field}`) };
}
