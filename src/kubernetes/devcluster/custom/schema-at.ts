// Finds the structural schema of a place in an object.

import { isObject, type JsonObject, pointerTokens } from '#std/json.ts';

/** Returns undefined if no schema covers the place. */
export function schemaAt(schema: JsonObject, pointer: string): JsonObject | undefined {
  let place: JsonObject | undefined = schema;
  for (const token of pointerTokens(pointer)) place = place === undefined ? undefined : schemaBelow(place, token);
  return place;
}

function schemaBelow(schema: JsonObject, token: string): JsonObject | undefined {
  const { properties, additionalProperties, items } = schema;
  if (isObject(items) && /^[0-9]+$/.test(token)) return items;
  const property = isObject(properties) && Object.hasOwn(properties, token) ? properties[token] : undefined;
  if (isObject(property)) return property;
  return isObject(additionalProperties) ? additionalProperties : undefined;
}
