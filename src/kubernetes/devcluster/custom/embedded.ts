// Decodes the metadata of embedded resources (`x-kubernetes-embedded-resource`) like the metadata of the object itself.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { readMetadata } from './metadata.ts';

export interface Embedded {
  readonly value: Json;
  /** Paths of unknown fields in metadata. */
  readonly unknown: readonly string[];
}

/** Decodes a copy of the value at `path`. Keeps metadata of the wrong shape, which validation reports. */
export function readEmbedded(schema: Json | undefined, value: Json, path: string): Embedded {
  if (!isObject(schema)) return { value, unknown: [] };
  if (Array.isArray(value)) {
    const items = value.map((item, index) => readEmbedded(schema.items, item, `${path}[${index}]`));
    return { value: items.map((item) => item.value), unknown: items.flatMap(({ unknown }) => unknown) };
  }
  return isObject(value) ? readMembers(schema, value, path) : { value, unknown: [] };
}

function readMembers(schema: JsonObject, object: JsonObject, path: string): Embedded {
  const { properties, additionalProperties } = schema;
  const known = isObject(properties) ? properties : {};
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const read: JsonObject = {};
  const unknown: string[] = [];
  for (const [key, child] of Object.entries(object)) {
    const below = path === '' ? key : `${path}.${key}`;
    const field =
      isResource && key === 'metadata'
        ? readOwnMetadata(child ?? null, below)
        : readEmbedded(Object.hasOwn(known, key) ? known[key] : additionalProperties, child ?? null, below);
    read[key] = field.value;
    unknown.push(...field.unknown);
  }
  return { value: read, unknown };
}

function readOwnMetadata(metadata: Json, path: string): Embedded {
  const read = readMetadata(metadata, path);
  return 'mismatch' in read || !isObject(metadata) ? { value: metadata, unknown: [] } : read;
}
