// The metadata of resources inside of custom resources (`x-kubernetes-embedded-resource`) passes through its struct, as that
// of the object itself does.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import { readMetadata } from './metadata.ts';

export interface Embedded {
  readonly value: Json;
  /** Paths of the fields that metadata does not have. */
  readonly unknown: readonly string[];
}

/** A copy of the value, which stands at `path`; metadata of the wrong shape stays for validation to name. */
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
