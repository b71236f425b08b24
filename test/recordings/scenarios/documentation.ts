// Takes the documentation out of what a server tells: it differs from version to version.

import type { Json } from '#std/json.ts';
import { isObject } from '#std/json.ts';

/** The value without the texts called `description`, at any depth; a property of that name stays. */
export function withoutDescriptions(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key, child]) => key !== 'description' || typeof child !== 'string');
  return Object.fromEntries(kept.map(([key, child]) => [key, withoutDescriptions(child ?? null)]));
}
