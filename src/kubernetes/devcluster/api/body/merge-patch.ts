// Applies a JSON merge patch (RFC 7386).

import { isObject, type Json, type JsonObject } from '#std/json.ts';

/** Returns the target with the patch merged into it. Modifies neither argument. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
